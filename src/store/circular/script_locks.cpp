#include "store/circular/script_locks.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/number.hpp"
#include "redis/client.hpp"
#include "store/rights.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

ListStatsResult read_measures(const redis::Reply& reply) {
  ListStatsResult result;
  result.now = read_ms(reply[0].integer()).value_or(WallTime{0});
  const auto number = [](const redis::Reply& of) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, of.integer()));
  };
  for (std::size_t i = 1; i < reply.size(); ++i) {
    const redis::Reply list = reply[i];
    if (list.size() < 8) break;
    result.lists.push_back({number(list[0]), number(list[2]), number(list[3]), number(list[4]),
                            number(list[5]), list[1].integer() != 0, read_ms(list[6].integer()),
                            read_ms(list[7].integer())});
  }
  return result;
}

ItemClaim::Result item_result(std::string_view status) {
  using Result = ItemClaim::Result;
  if (status == "ok") return Result::claimed;
  if (status == "paused") return Result::paused;
  if (status == "not_listed") return Result::not_listed;
  if (status == "quarantined") return Result::quarantined;
  return status == "full" ? Result::fleet_full : Result::running;
}

}  // namespace

std::size_t ScriptLocks::at_once(std::optional<std::size_t> longest) {
  // As in claim.lua, for the first items.
  constexpr std::size_t most = 64;
  constexpr std::size_t most_bytes = std::size_t{256} << 10;
  if (!longest) return 1;
  return std::clamp<std::size_t>(most_bytes / (*longest + 1), 1, most);
}

void ScriptLocks::note_refusal(const redis::Answer& answer) {
  if (forbids(answer)) proven_ = false;
}

void ScriptLocks::claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer) {
  const std::string lock = call.keys.lock(call.item);
  const std::string expiry = ms_text(call.expiry);
  const std::string limit = std::to_string(call.fleet_limit);
  const std::string told = std::to_string(item_shown);
  const std::string fence = std::to_string(call.newest_fence);
  client_.run(scripts::claim_item,
              {call.keys.list, call.keys.fence, call.keys.failures, call.keys.slots,
               call.keys.paused, call.keys.quarantined, lock},
              {call.value, expiry, limit, call.item, call.run, told, fence, call.keys.lock_prefix,
               call.keys.other_lock_prefix},
              [this, answer = std::move(answer)](const redis::Answer& got) {
                if (const auto trouble = trouble_of(got)) {
                  note_refusal(got);
                  return answer(nullptr, *trouble);
                }
                ClaimItemResult result;
                result.result = item_result(got.reply[0].text());
                result.detail = shown_part(got.reply[1].text());
                result.fence = static_cast<std::uint64_t>(got.reply[2].integer());
                result.failures = static_cast<unsigned>(got.reply[3].integer());
                answer(&result, {});
              });
}

void ScriptLocks::renew(const RenewCall& call, Answer<RenewResult> answer) {
  const std::string expiry = ms_text(call.expiry);
  const std::string retake_until = std::to_string(call.retake_until.value_or(WallTime(0)).count());
  const std::string most_recorded = std::to_string(item_shown);
  std::string recorded;  // an argument, which lives until the call
  for (const auto& lock : call.locks) recorded += lock.records ? '1' : '0';
  if (recorded.find('1') == std::string::npos) recorded.clear();
  // Only keys that are used are named. While a cluster moves a hash slot, a call succeeds if all or
  // none of its keys have moved; otherwise it must be retried.
  redis::Command keys{call.fleet || call.locks.empty() ? call.keys.slots : call.locks.front().key};
  redis::Command args{expiry,
                      call.fleet ? "1" : "0",
                      retake_until,
                      call.keys.lock_prefix,
                      call.keys.other_lock_prefix,
                      most_recorded};
  for (const auto& lock : call.locks) {
    keys.push_back(lock.key);
    args.push_back(lock.value);
  }
  args.push_back(recorded);
  client_.run(scripts::renew, keys, args,
              [this, answer = std::move(answer)](const redis::Answer& got) {
                if (const auto trouble = trouble_of(got)) {
                  note_refusal(got);
                  return answer(nullptr, *trouble);
                }
                RenewResult result;
                result.now = read_ms(got.reply[0].integer()).value_or(WallTime{0});
                for (std::size_t i = 1; i < got.reply.size(); ++i) {
                  result.states.push_back(static_cast<Renewed>(got.reply[i].integer()));
                  if (result.states.back() == Renewed::refused) proven_ = false;
                }
                answer(&result, {});
              });
}

void ScriptLocks::sweep(const SweepCall& call, Answer<SweepResult> answer) {
  const std::string most = std::to_string(most_compared);
  redis::Command keys;
  redis::Command args{most};
  for (const CircularKeys& list : call.lists) {
    keys.insert(keys.end(), {list.list, list.failures, list.quarantined});
    args.insert(args.end(), {list.lock_prefix, list.other_lock_prefix});
  }
  client_.run(
      scripts::sweep, keys, args, [this, answer = std::move(answer)](const redis::Answer& got) {
        if (const auto trouble = trouble_of(got)) {
          note_refusal(got);
          return answer(nullptr, *trouble);
        }
        SweepResult result{static_cast<std::size_t>(got.reply[0].integer()),
                           static_cast<std::size_t>(got.reply[1].integer()),
                           {}};
        for (std::size_t i = 2; i < got.reply.size(); ++i)
          result.interrupted.push_back(static_cast<std::size_t>(got.reply[i].integer()) - 1);
        answer(&result, {});
      });
}

void ScriptLocks::recover(const RecoverRunsCall& call) {
  const std::string limits = to_text(call.history);
  const std::string most_bytes = std::to_string(item_shown);
  client_.run(scripts::recover, {call.keys.claims, call.keys.runs},
              {limits, most_bytes, call.keys.lock_prefix, call.keys.other_lock_prefix},
              [this](const redis::Answer& got) {
                if (trouble_of(got)) note_refusal(got);
              });
}

void ScriptLocks::measure(const ListStatsCall& call, Answer<ListStatsResult> answer) {
  const std::string most = std::to_string(ListStatsCall::most_items);
  const std::string life = ms_text(ListStatsCall::life);
  const std::string longest = std::to_string(ListStatsCall::longest_noted);
  redis::Command keys;
  redis::Command args{most, life, longest};
  for (const CircularKeys& list : call.lists) {
    keys.insert(keys.end(), {list.list, list.samples, list.quarantined});
    args.push_back(list.lock_prefix);
  }
  client_.run(scripts::list_stats, keys, args,
              [this, answer = std::move(answer)](const redis::Answer& got) {
                if (const auto trouble = trouble_of(got)) {
                  note_refusal(got);
                  return answer(nullptr, *trouble);
                }
                const ListStatsResult result = read_measures(got.reply);
                answer(&result, {});
              });
}

}  // namespace w8y::store
