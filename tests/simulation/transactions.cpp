#include "simulation/transactions.hpp"

#include <array>
#include <utility>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

/// Those of a connection, which only its Transaction can carry out.
Value run_elsewhere(const CommandCall& call) {
  throw CommandError("ERR the simulation has no model of " + call.words.front() + " in a script");
}

/// Between MULTI and EXEC: by then nothing is watched any more.
Value run_unwatch(const CommandCall&) {
  return Value::status("OK");
}

}  // namespace

std::span<const CommandInfo> transaction_commands() {
  using Effect = CommandInfo::Effect;
  static constexpr std::array<CommandInfo, 5> all{{
      {"MULTI", 1, Effect::reads, run_elsewhere},
      {"EXEC", 1, Effect::reads, run_elsewhere},
      {"DISCARD", 1, Effect::reads, run_elsewhere},
      {"WATCH", -2, Effect::reads, run_elsewhere},
      {"UNWATCH", 1, Effect::reads, run_unwatch},
  }};
  return all;
}

std::optional<Value> Transaction::take(const Words& words, const Rules& rules) {
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
  if (name == "WATCH") {
    if (open_) return Value::error("ERR WATCH inside MULTI is not allowed");
    for (std::size_t i = 1; i < words.size(); ++i) {
      rules.look(words[i]);
      watched_.insert(words[i]);
    }
    return Value::status("OK");
  }
  if (open_) return queue(words, rules);
  if (name != "UNWATCH") return std::nullopt;
  unwatch();
  return Value::status("OK");
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
  for (const std::string& key : std::set(watched_)) rules.look(key);
  const bool broken = broken_, changed = changed_;
  const std::vector<Words> queued = std::move(queued_);
  end();
  if (!why.empty()) return Value::error("EXECABORT Transaction discarded because of: " + why);
  if (broken) return Value::error("EXECABORT Transaction discarded because of previous errors.");
  if (changed) return {};
  return rules.execute(queued);
}

void Transaction::unwatch() {
  watched_.clear();
  changed_ = false;
}

void Transaction::end() {
  open_ = broken_ = false;
  queued_.clear();
  unwatch();
}

}  // namespace w8y::sim
