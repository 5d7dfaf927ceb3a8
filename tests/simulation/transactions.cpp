#include "simulation/transactions.hpp"

#include <array>
#include <utility>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

/// Commands of a connection, which only its Transaction can execute.
Value run_elsewhere(const CommandCall& call) {
  throw CommandError("ERR the simulation has no model of " + call.words.front() + " in a script");
}

}  // namespace

std::span<const CommandInfo> transaction_commands() {
  using Effect = CommandInfo::Effect;
  static constexpr auto all = std::to_array<CommandInfo>({
      {"MULTI", 1, Effect::reads, run_elsewhere},
      {"EXEC", 1, Effect::reads, run_elsewhere},
      {"DISCARD", 1, Effect::reads, run_elsewhere},
  });
  return all;
}

std::optional<Value> Transaction::handle(const Words& words, const Rules& rules) {
  const CommandInfo* info = command_of(words.front());
  const std::string name = info != nullptr ? info->name : words.front();
  if (name == "MULTI") {
    if (open_) return Value::error("ERR MULTI calls can not be nested");
    open_ = true;
    return Value::status("OK");
  }
  if (name == "EXEC") return exec(rules);
  if (name == "DISCARD") {
    if (!open_) return Value::error("ERR DISCARD without MULTI");
    end();
    return Value::status("OK");
  }
  if (open_) return queue(words, rules);
  return std::nullopt;
}

Value Transaction::queue(const Words& words, const Rules& rules) {
  const CommandInfo* info = command_of(words.front());
  std::string why = rules.refusal(words);
  if (info == nullptr) {
    why = "ERR the simulation has no model of " + words.front() + " between MULTI and EXEC";
  } else if (const std::string wrong = wrong_count_of(*info, words); !wrong.empty()) {
    why = wrong;
  }
  if (why.empty()) {
    queued_.push_back(words);
    return Value::status("QUEUED");
  }
  refused();
  return Value::error(why);
}

Value Transaction::exec(const Rules& rules) {
  if (!open_) return Value::error("ERR EXEC without MULTI");
  std::string why;
  for (const Words& words : queued_)
    if (why.empty()) why = rules.refusal(words);
  const bool broken = broken_;
  const std::vector<Words> queued = std::move(queued_);
  end();
  if (!why.empty()) return Value::error("EXECABORT Transaction discarded because of: " + why);
  if (broken) return Value::error("EXECABORT Transaction discarded because of previous errors.");
  return rules.execute(queued);
}

void Transaction::end() {
  open_ = broken_ = false;
  queued_.clear();
}

}  // namespace w8y::sim
