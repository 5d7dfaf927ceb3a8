// PlainLocks::settle: what settle.lua does, for one run after the other; and the sweep.
#include <algorithm>
#include <utility>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/lock_value.hpp"

namespace w8y::store {

namespace {

/// Whether some entries of a history have this run.
bool tells_of(const redis::ReplyCopy& entries, const RunId& run) {
  const std::string member = "\"run\":\"" + run + '"';
  return std::ranges::any_of(entries.elements, [&](const redis::ReplyCopy& entry) {
    return entry.text.find(member) != std::string::npos;
  });
}

/// As parts/history.lua makes it. `time`: the answer to TIME.
std::string entry_of(const SettleCall& call, const redis::ReplyCopy& time) {
  std::string ms = time.elements.size() == 2 ? time.elements[1].text : "0";
  ms.insert(0, 6 - std::min<std::size_t>(6, ms.size()), '0');
  ms.resize(3);
  const std::string seconds = time.elements.size() == 2 ? time.elements[0].text : "0";
  std::string entry = "{\"entered_ms\":" + seconds + ms + ',';
  entry.append(call.event, 1, call.event.size() - 2);
  return entry + call.more + '}';
}

}  // namespace

/// What an end finds.
struct PlainLocks::Standing {
  std::optional<std::string> lock;
  bool ordered = false;  ///< an operator has it quarantined
  bool listed = true;    ///< looked at only if it would be quarantined for its failures
  bool written = false;  ///< its history and news are
  redis::ReplyCopy time;
};

/// What settle.lua does, for one run.
PlainLocks::Change PlainLocks::change_of(const CircularKeys& keys, const SettleCall& call,
                                         const Standing& at) {
  Change change;
  const bool ours = at.lock == call.value;
  // Since we lost the lock, others may have run the item, and what came of that stands: also if a
  // renewal that came late has taken it once more.
  const bool counts = ours && !call.stale;
  if (ours) {
    const bool parks = at.ordered || (counts && call.for_good() && at.listed);
    const bool gone = counts && call.for_good() && !parks;
    const bool rests = !call.new_value.empty() && !call.for_good() &&
                       (counts || call.new_value == resting_lock(false));
    if (parks) {
      change.commands.push_back({"SET", call.lock, quarantined_lock(call.run)});
      if (!at.ordered) change.notes.push_back({"HSET", keys.quarantined, call.item, call.note});
    } else if (!rests) {
      change.commands.push_back({"DEL", call.lock});
    } else {
      change.commands.push_back({"SET", call.lock, call.new_value, "PX", ms_text(call.new_life)});
    }
    if (gone || (counts && call.failures == "reset")) {
      change.notes.push_back({"HDEL", keys.failures, call.item});
    } else if (counts && call.failures == "increment") {
      change.notes.push_back({"HINCRBY", keys.failures, call.item, "1"});
    }
  } else if (!at.lock && !call.again && !at.ordered && call.new_value == resting_lock(false)) {
    change.commands.push_back(
        {"SET", call.lock, call.new_value, "PX", ms_text(call.new_life), "NX"});
  }
  change.notes.push_back({"ZREM", keys.slots, call.run.str()});
  if (!at.written && !call.event.empty()) {
    if (call.history > 0) {
      change.notes.push_back({"LPUSH", keys.runs, entry_of(call, at.time)});
      change.notes.push_back({"LTRIM", keys.runs, "0", std::to_string(call.history - 1)});
    }
    change.notes.push_back({"PUBLISH", keys.events, call.event});
  }
  change.notes.push_back({"PUBLISH", keys.wake, "free"});
  return change;
}

void PlainLocks::settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
                        SettleAnswer answer) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    settle_one(keys, *calls[i], [answer, i](const StoreError* trouble) { answer(i, trouble); });
}

void PlainLocks::settle_one(const CircularKeys& keys, const SettleCall& call, Settled answer) {
  Commands reads{{"HEXISTS", keys.quarantined, call.item}};
  // A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
  if (call.for_good()) reads.push_back({"LPOS", keys.list, call.item});
  if (call.history > 0) reads.push_back({"TIME"});
  const bool look_it_up = call.again && call.history > 0;
  if (look_it_up) reads.push_back({"LRANGE", keys.runs, "0", "99"});
  const auto decide = [keys, call, look_it_up](const Found& found) {
    Standing at{found.lock, found.reads.front().number == 1, true, false, {}};
    std::size_t next = 1;
    if (call.for_good()) at.listed = !found.reads[next++].is_nil();
    if (call.history > 0) at.time = found.reads[next++];
    if (look_it_up) at.written = tells_of(found.reads[next], call.run);
    return change_of(keys, call, at);
  };
  swap(call.lock, std::move(reads), decide,
       [this, keys, call, answer = std::move(answer)](const Swapped* swapped,
                                                      const StoreError& trouble) {
         if (swapped == nullptr) return answer(&trouble);
         if (!swapped->done) return settle_one(keys, call, answer);  // changed meanwhile
         if (swapped->refused.empty()) return answer(nullptr);
         StoreError noted;
         noted.settled = true;
         noted.why = swapped->refused;
         answer(&noted);
       });
}

// ---- sweep

/// Of the first list only, and a few entries: it takes some commands for each.
void PlainLocks::sweep(const SweepCall& call, Answer<SweepResult> answer) {
  const CircularKeys& keys = call.lists.front();
  sweep_entries(keys, keys.failures, [] {});
  sweep_entries(keys, keys.quarantined, [answer = std::move(answer)] {
    const SweepResult result{1, 0};
    answer(&result, {});
  });
}

void PlainLocks::sweep_entries(const CircularKeys& keys, const std::string& hash,
                               std::function<void()> over) {
  client_.call({"HRANDFIELD", hash, "4"}, [this, alive = alive_, keys, hash,
                                           over = std::move(over)](const redis::Answer& some) {
    if (!*alive) return;
    for (std::size_t i = 0; some.ok() && i < some.reply.size(); ++i) {
      // Nearly all are in the list, which is seen by one command.
      const Item item(some.reply[i].text());
      client_.call({"LPOS", keys.list, item},
                   [this, alive, keys, hash, item](const redis::Answer& place) {
                     if (*alive && place.ok() && place.reply.is_nil())
                       sweep_entry(keys, hash, item);
                   });
    }
    over();
  });
}

void PlainLocks::sweep_entry(const CircularKeys& keys, const std::string& hash, const Item& item) {
  for (const std::string& lock : {keys.lock(item), keys.other_lock_prefix + item}) {
    const auto decide = [lock, hash, item](const Found& found) -> Change {
      if (!found.reads.front().is_nil()) return {};
      Change change{{{"HDEL", hash, item}}, {}};
      if (found.lock && is_quarantined(*found.lock)) change.commands.push_back({"DEL", lock});
      return change;
    };
    swap(lock, {{"LPOS", keys.list, item}}, decide, [](const Swapped*, const StoreError&) {});
  }
}

}  // namespace w8y::store
