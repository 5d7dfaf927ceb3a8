#include "source/scripted_locks.hpp"

#include <algorithm>
#include <utility>

#include "redis/client.hpp"
#include "redis/script.hpp"

namespace w8y::source {

namespace {

std::string milliseconds(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return std::to_string(std::max<std::int64_t>(ms, duration > Duration{0} ? 1 : 0));
}

/// Nothing if the answer is good; else what went wrong.
std::optional<Trouble> trouble_of(const redis::Answer& answer) {
  if (answer.ok()) return std::nullopt;
  return Trouble{answer.failure == redis::Failure::lost, answer.error(), answer.problem()};
}

/// An ACL without scripts; not one that only lacks a key.
bool scripts_forbidden(const redis::Answer& answer) {
  return answer.error() == redis::ErrorCode::noperm &&
         answer.reply.text().find("'eval") != std::string_view::npos;
}

ClaimStatus status_of(std::string_view text) {
  if (text == "ok") return ClaimStatus::ok;
  if (text == "more") return ClaimStatus::more;
  if (text == "empty") return ClaimStatus::empty;
  if (text == "paused") return ClaimStatus::paused;
  if (text == "full") return ClaimStatus::full;
  return ClaimStatus::none;
}

ClaimResult read_claim(const redis::Reply& reply) {
  ClaimResult result;
  result.status = status_of(reply[0].text());
  result.left = reply[1].integer();
  if (const auto ms = reply[2].integer(); ms >= 0) result.next_free = std::chrono::milliseconds(ms);
  if (result.status == ClaimStatus::none || result.status == ClaimStatus::more) {
    result.length = reply[3].integer();
  } else {
    result.detail = reply[3].text();
  }
  for (std::size_t i = 4; i + 2 < reply.size(); i += 3) {
    result.taken.push_back(Taken{std::string(reply[i].text()),
                                 static_cast<std::uint64_t>(reply[i + 1].integer()),
                                 static_cast<unsigned>(reply[i + 2].integer())});
  }
  return result;
}

}  // namespace

void ScriptedLocks::claim(const ClaimCall& call, Answer<ClaimResult> answer) {
  const std::string expiry = milliseconds(call.expiry);
  const std::string limit = std::to_string(call.fleet_limit);
  const std::string left = std::to_string(call.left);
  const std::string most = std::to_string(most_looked_at);
  redis::Command args{call.keys.lock_prefix, call.value_prefix, expiry, limit, left, most};
  args.insert(args.end(), call.runs.begin(), call.runs.end());
  client_.run(
      redis::scripts::claim,
      {call.keys.list, call.keys.fence, call.keys.failures, call.keys.slots, call.keys.paused},
      args, [this, answer = std::move(answer)](const redis::Answer& got) {
        if (const auto trouble = trouble_of(got)) {
          if (scripts_forbidden(got)) forbidden_();
          return answer(nullptr, *trouble);
        }
        const ClaimResult result = read_claim(got.reply);
        answer(&result, {});
      });
}

void ScriptedLocks::renew(const RenewCall& call, Answer<std::vector<Renewed>> answer) {
  const std::string expiry = milliseconds(call.expiry);
  // Named only where it is used: while a cluster moves the slot, a call for keys that are all there
  // or all not there is carried out, and any other has to wait.
  redis::Command keys{call.fleet || call.locks.empty() ? call.slots_key : call.locks.front().key};
  std::vector<std::string> values;
  values.reserve(call.locks.size());
  for (const auto& lock : call.locks) {
    keys.push_back(lock.key);
    values.push_back((lock.retake ? "t" : "n") + lock.value);
  }
  redis::Command args{expiry, call.fleet ? "1" : "0"};
  args.insert(args.end(), values.begin(), values.end());
  client_.run(redis::scripts::renew, keys, args,
              [this, answer = std::move(answer)](const redis::Answer& got) {
                if (const auto trouble = trouble_of(got)) {
                  if (scripts_forbidden(got)) forbidden_();
                  return answer(nullptr, *trouble);
                }
                std::vector<Renewed> states;
                for (std::size_t i = 0; i < got.reply.size(); ++i)
                  states.push_back(static_cast<Renewed>(got.reply[i].integer()));
                answer(&states, {});
              });
}

void ScriptedLocks::settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
                           SettleAnswer answer) {
  redis::Command locks{keys.failures, keys.slots, keys.runs, keys.list};
  redis::Command args{keys.events, keys.wake};
  std::size_t words = args.size();
  for (const SettleCall* call : calls) words += 10 + call->entry.size();
  args.reserve(words);
  locks.reserve(locks.size() + calls.size());
  std::vector<std::string> numbers;  // the arguments point to them: three of each call, not moved
  numbers.reserve(calls.size() * 3);
  const auto number = [&numbers](std::string text) -> std::string_view {
    return numbers.emplace_back(std::move(text));
  };
  for (const SettleCall* call : calls) {
    locks.push_back(call->lock);
    args.insert(args.end(), {call->value, call->new_value, number(milliseconds(call->new_life)),
                             call->failures, call->item, call->run, call->again ? "1" : "0",
                             number(std::to_string(call->history)), call->event,
                             number(std::to_string(call->entry.size()))});
    args.insert(args.end(), call->entry.begin(), call->entry.end());
  }
  client_.run(redis::scripts::settle, locks, args,
              [this, count = calls.size(), answer = std::move(answer)](const redis::Answer& got) {
                const auto trouble = trouble_of(got);
                if (trouble && scripts_forbidden(got)) forbidden_();
                for (std::size_t i = 0; i < count; ++i) answer(i, trouble ? &*trouble : nullptr);
              });
}

}  // namespace w8y::source
