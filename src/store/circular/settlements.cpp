#include "store/circular/settlements.hpp"

#include "store/run_record.hpp"
#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store {

namespace {

/// Returns the lock value without the run ID.
std::string_view holder(const SettleCall& call) {
  return std::string_view(call.value).substr(0, call.value.size() - call.run.size());
}

}  // namespace

const redis::Script& CircularEnds::script() {
  return scripts::settle;
}

redis::Command CircularEnds::keys_of(const Keys& keys, const std::vector<const Call*>& calls) {
  redis::Command words{keys.failures, keys.slots, keys.runs, keys.quarantined};
  words.reserve(words.size() + calls.size() + 1);
  for (const Call* call : calls) words.push_back(call->lock);
  words.push_back(keys.waiting);
  return words;
}

redis::Command CircularEnds::first_words(const Keys& keys) {
  return {keys.events, keys.wake, keys.lock_prefix};
}

bool CircularEnds::same_group(const Call& a, const Call& b) {
  return a.new_value == b.new_value && a.new_life == b.new_life && a.note == b.note &&
         a.failures == b.failures && a.again == b.again && a.stale == b.stale &&
         a.recorded == b.recorded && a.history == b.history && a.kept == b.kept &&
         a.breaker == b.breaker && holder(a) == holder(b);
}

std::array<std::string_view, 11> CircularEnds::group_words(const Call& call, const KeepText& keep) {
  return {holder(call),
          call.new_value,
          keep(ms_text(call.new_life)),
          call.note,
          call.failures,
          call.again ? "1" : "0",
          call.stale ? "1" : "0",
          keep(to_text(call.history)),
          call.kept,
          call.recorded ? "1" : "0",
          call.breaker};
}

std::array<std::string_view, 4> CircularEnds::own_words(const Call& call, std::string_view group) {
  return {group, call.run, call.event, call.more};
}

SettleResult CircularEnds::read(RedisSession& session, const redis::Answer& answer,
                                const Call& call) {
  SettleResult result = read_settled(answer, call);
  if (trouble_of(answer)) {
    session.circular.locks.note_refusal(answer);
  } else if (result.trouble) {
    // The next claim reports whether a permission is missing.
    session.circular.locks.set_proven(false);
  }
  return result;
}

void settle_once(RedisSession& session, const CircularKeys& keys, const SettleCall& call) {
  const CircularEnds::Words words(keys, {&call});
  session.client.run(scripts::settle, words.keys(), words.arguments(),
                     [&session](const redis::Answer& answer) {
                       CircularEnds::read(session, answer, SettleCall());
                     });
}

template class Settlements<CircularEnds>;

}  // namespace w8y::store
