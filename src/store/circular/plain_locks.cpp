#include "store/circular/plain_locks.hpp"

#include <algorithm>
#include <utility>

#include "redis/client.hpp"
#include "store/circular/plain_words.hpp"
#include "store/rights.hpp"

namespace w8y::store {

namespace {

/// Commands that name a longer lock wait for each other's answers: together they would be more than
/// a connection carries.
constexpr std::size_t long_name = std::size_t{1} << 20;

redis::Command borrow(const std::vector<std::string>& words) {
  return redis::Command(words.begin(), words.end());
}

bool says_wrong_type(const std::string& problem) {
  return problem.starts_with("WRONGTYPE");
}

}  // namespace

PlainLocks::PlainLocks(redis::Client& client)
    : client_(client), alive_(std::make_shared<bool>(true)) {}

PlainLocks::~PlainLocks() {
  *alive_ = false;
}

// ---- compare and swap of a lock

struct PlainLocks::Swap {
  std::string key;
  Commands reads;  ///< besides the lock
  std::function<Change(const Found& found)> decide;
  Answer<Swapped> answer;
  Watched watched;
  Swapped result;
};

struct PlainLocks::Pass {
  Found found;
  bool locked = false;
  std::optional<StoreError> trouble;
};

void PlainLocks::swap(std::string key, Commands reads, std::function<Change(const Found&)> decide,
                      Answer<Swapped> answer, Watched watched) {
  swaps_.push_back(std::make_unique<Swap>(
      Swap{std::move(key), std::move(reads), std::move(decide), std::move(answer), watched, {}}));
  if (swaps_.size() == 1) next_swap();
}

void PlainLocks::next_swap() {
  client_.call({"WATCH", swaps_.front()->key});
  read(0, std::make_shared<Pass>());
}

void PlainLocks::read(std::size_t at, const std::shared_ptr<Pass>& reading) {
  Swap& swap = *swaps_.front();
  if (at == swap.reads.size()) return read_lock(reading);
  const bool waits = swap.key.size() > long_name;
  client_.call(borrow(swap.reads[at]),
               [this, alive = alive_, at, reading, waits](const redis::Answer& got) {
                 if (!*alive) return;
                 reading->found.reads.emplace_back(got.reply);
                 // A key of a wrong type says nothing; a user who may not read it can't go on.
                 const bool wrong_type = !got.ok() && says_wrong_type(got.problem());
                 if (!reading->trouble && !wrong_type) reading->trouble = trouble_of(got);
                 if (waits) read(at + 1, reading);
               });
  if (!waits) read(at + 1, reading);
}

/// The last to be read: with it, all is there.
void PlainLocks::read_lock(const std::shared_ptr<Pass>& reading) {
  const std::string& key = swaps_.front()->key;
  client_.call({"PTTL", key}, [reading](const redis::Answer& got) {
    if (!reading->trouble) reading->trouble = trouble_of(got);
    reading->locked = got.reply.integer() != not_there;
  });
  redis::Command value{"GETRANGE", key, "0", most_of_value};
  if (swaps_.front()->watched == Watched::list) value = {"EXISTS", key};
  client_.call(value, [this, alive = alive_, reading](const redis::Answer& got) {
    if (!*alive) return;
    if (!reading->trouble) reading->trouble = trouble_of(got);
    if (reading->trouble) {
      client_.call({"UNWATCH"});
      return finish_swap(&*reading->trouble);
    }
    if (reading->locked) reading->found.lock = std::string(got.reply.text());
    execute(swaps_.front()->decide(reading->found));
  });
}

/// All or nothing, but for what is only noted: where that is forbidden, it is left out.
void PlainLocks::execute(Change&& change) {
  std::erase_if(change.notes, [this](const auto& words) {
    const auto forbidden = forbidden_.find(words.front());
    if (forbidden == forbidden_.end()) return false;
    swaps_.front()->result.refused = words.front() + ": " + forbidden->second;
    return true;
  });
  if (change.commands.empty() && change.notes.empty()) {
    client_.call({"UNWATCH"});
    swaps_.front()->result.done = true;
    return finish_swap(nullptr);
  }
  client_.call({"MULTI"});
  // What a queued command is refused for says more than EXEC, which then says EXECABORT.
  const auto refused = std::make_shared<std::optional<StoreError>>();
  const auto left_out = std::make_shared<bool>(false);
  const auto queue = [&](const std::vector<std::string>& words, bool note) {
    client_.call(borrow(words), [this, alive = alive_, refused, left_out, note,
                                 name = words.front()](const redis::Answer& queued) {
      if (!*alive || queued.error() == redis::ErrorCode::none || *refused) return;
      if (note && forbids(queued)) {
        forbidden_.emplace(name, queued.problem());
        *left_out = true;
      } else {
        *refused = trouble_of(queued);
      }
    });
  };
  for (const auto& command : change.commands) queue(command, false);
  std::vector<std::string> notes;
  for (const auto& command : change.notes) {
    queue(command, true);
    notes.push_back(command.front());
  }
  client_.call({"EXEC"}, [this, alive = alive_, refused, left_out, certain = change.commands.size(),
                          notes = std::move(notes)](const redis::Answer& executed) {
    if (!*alive) return;
    if (executed.ok()) return look_inside(executed.reply, certain, notes);
    if (*left_out && !*refused) return next_swap();  // again, without those
    const StoreError trouble = *refused ? **refused : *trouble_of(executed);
    finish_swap(&trouble);
  });
}

/// EXEC is carried out to its end, whatever becomes of each command.
void PlainLocks::look_inside(const redis::Reply& replies, std::size_t certain,
                             const std::vector<std::string>& notes) {
  Swapped& result = swaps_.front()->result;
  result.done = !replies.is_nil();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const redis::Answer answer{redis::Failure::none, replies[i], {}};
    if (const auto trouble = trouble_of(answer)) {
      if (i < certain) return finish_swap(&*trouble);
      result.refused = notes[std::min(i - certain, notes.size() - 1)] + ": " + trouble->why;
    } else {
      result.replies.emplace_back(answer.reply);
    }
  }
  finish_swap(nullptr);
}

void PlainLocks::finish_swap(const StoreError* trouble) {
  const std::unique_ptr<Swap> over = std::move(swaps_.front());
  swaps_.pop_front();
  if (!swaps_.empty()) next_swap();
  if (trouble != nullptr) return over->answer(nullptr, *trouble);
  over->answer(&over->result, {});
}

// ---- renew

void PlainLocks::renew(const RenewCall& call, Answer<RenewResult> answer) {
  struct Batch {
    RenewResult result;
    std::size_t unanswered = 0;
    std::optional<StoreError> trouble;
    Answer<RenewResult> answer;
  };
  auto batch = std::make_shared<Batch>();
  batch->result.states.assign(call.locks.size(), Renewed::foreign);
  batch->unanswered = call.locks.size();
  batch->answer = std::move(answer);
  const std::string life = ms_text(call.expiry);
  for (std::size_t i = 0; i < call.locks.size(); ++i) {
    const RenewLock& lock = call.locks[i];
    // The lock is watched from its look to its change: what others did between them is found out.
    const auto decide = [batch, i, lock, life,
                         retake = call.retake_until.has_value()](const Found& found) -> Change {
      Renewed& state = batch->result.states[i];
      if (!found.lock) {
        state = retake ? Renewed::retaken : Renewed::gone;
        if (retake) return {{{"SET", lock.key, lock.value, "PX", life}}, {}};
      } else if (*found.lock == lock.value) {
        state = Renewed::renewed;
        return {{{"PEXPIRE", lock.key, life}}, {}};
      }
      return {};
    };
    swap(lock.key, {}, decide, [batch, i](const Swapped* swapped, const StoreError& trouble) {
      Renewed& state = batch->result.states[i];
      if (swapped == nullptr && says_wrong_type(trouble.why)) {
        state = Renewed::foreign;  // whoever's it is, it keeps no other from being renewed
      } else if (swapped == nullptr) {
        state = Renewed::refused;
        batch->trouble = trouble;
      } else if (!swapped->done) {
        state = Renewed::foreign;  // changed between GET and EXEC; the next renewal will tell
      } else if (state == Renewed::renewed && swapped->replies.front().number == 0) {
        state = Renewed::gone;
      }
      if (--batch->unanswered > 0) return;
      const bool none = std::ranges::none_of(batch->result.states, [](Renewed each) {
        return each == Renewed::renewed || each == Renewed::retaken;
      });
      if (batch->trouble && none) return batch->answer(nullptr, *batch->trouble);
      batch->answer(&batch->result, {});
    });
  }
  if (call.fleet) renew_places(call);
}

void PlainLocks::renew_places(const RenewCall& call) {
  std::vector<RunId> runs;
  for (const auto& lock : call.locks) runs.push_back(lock.value.substr(lock.value.rfind(':') + 1));
  client_.call({"TIME"}, [this, alive = alive_, runs = std::move(runs), key = call.slots_key,
                          expiry = call.expiry](const redis::Answer& time) {
    if (!*alive || !time.ok()) return;
    const auto now_ms = redis::server_time(time.reply).count();
    const std::int64_t life = std::chrono::duration_cast<std::chrono::milliseconds>(expiry).count();
    const std::string until = std::to_string(place_until(now_ms, life));
    for (const auto& run : runs) client_.call({"ZADD", key, until, run});
    client_.call(
        {"PEXPIRE", key,
         std::to_string(slots_life(std::chrono::duration_cast<WallTime>(expiry).count()))});
  });
}

}  // namespace w8y::store
