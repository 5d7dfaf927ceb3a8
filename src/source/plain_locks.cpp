#include "source/plain_locks.hpp"

#include <algorithm>
#include <utility>

#include "redis/client.hpp"
#include "source/quarantine_note.hpp"
#include "source/rights.hpp"

namespace w8y::source {

namespace {

/// Of a lock's value: more than any of ours has. A foreign one may be of any length.
constexpr const char* most_of_value = "1023";
/// PTTL's answer.
constexpr std::int64_t not_there = -2;
/// Commands that name a longer lock wait for each other's answers: together they would be more than
/// a connection carries.
constexpr std::size_t long_name = std::size_t{1} << 20;

/// Each place has its own end, in its score; this is only so that the key has one too.
std::int64_t slots_life(std::int64_t expiry_ms) {
  return std::max<std::int64_t>(86'400'000, 2 * expiry_ms);
}

redis::Command borrow(const std::vector<std::string>& words) {
  return redis::Command(words.begin(), words.end());
}

bool says_wrong_type(const std::string& problem) {
  return problem.starts_with("WRONGTYPE");
}

/// Whether some entries of a history have this run.
bool tells_of(const redis::Value& entries, const RunId& run) {
  return std::ranges::any_of(entries.elements, [&](const redis::Value& entry) {
    if (entry.elements.size() < 2) return false;
    const auto& fields = entry.elements[1].elements;
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
      if (fields[i].text == "run" && fields[i + 1].text == run) return true;
    return false;
  });
}

}  // namespace

PlainLocks::PlainLocks(redis::Client& client)
    : client_(client), alive_(std::make_shared<bool>(true)) {}

PlainLocks::~PlainLocks() {
  *alive_ = false;
}

// ---- claim: look at one item after the other

class PlainLocks::ClaimPass : public std::enable_shared_from_this<PlainLocks::ClaimPass> {
 public:
  ClaimPass(PlainLocks& locks, const ClaimCall& call, Answer<ClaimResult> answer)
      : client_(locks.client_),
        alive_(locks.alive_),
        keys_(call.keys),
        value_prefix_(call.value_prefix),
        parked_note_(call.parked_note),
        runs_(call.runs),
        expiry_(ms_text(call.expiry)),
        expiry_ms_(std::stoll(expiry_)),
        limit_(call.fleet_limit),
        answer_(std::move(answer)) {
    result_.left = call.left;
  }

  void begin() {
    // A reason may be of any length.
    ask({"PTTL", keys_.paused}, [this](const redis::Reply& reply) {
      if (reply.integer() != not_there) result_.status = ClaimStatus::paused;
    });
    const std::string last = std::to_string(item_shown);
    ask({"GETRANGE", keys_.paused, "0", last},
        [this](const redis::Reply& reply) { result_.detail = shown_part(reply.text()); });
    ask({"TIME"}, [this](const redis::Reply& reply) {
      now_us_ = reply[0].integer() * 1000000 + reply[1].integer();
    });
    client_.call({"HLEN", keys_.quarantined},
                 [self = shared_from_this()](const redis::Answer& answer) {
                   // Of a wrong type, it is no index.
                   self->indexed_ = answer.ok() && answer.reply.integer() > 0;
                 });
    ask({"LLEN", keys_.list}, [this](const redis::Reply& reply) {
      const auto length = reply.integer();
      result_.length = length;
      if (length == 0) result_.status = ClaimStatus::empty;
      if (result_.left < 0 || result_.left > length) result_.left = length;
      if (result_.status == ClaimStatus::ok) {
        next();
      } else {
        finish();
      }
    });
  }

 private:
  /// Every step holds the pass alive; trouble ends it.
  void ask(const redis::Command& command, std::function<void(const redis::Reply&)> then) {
    client_.call(command,
                 [self = shared_from_this(), then = std::move(then)](const redis::Answer& answer) {
                   if (self->over_ || !*self->alive_) return;
                   if (!answer.ok()) return self->fail(answer);
                   then(answer.reply);
                 });
  }

  void fail(const redis::Answer& answer) {
    over_ = true;
    // One that has no fence yet is not begun.
    const std::size_t asked = result_.taken.size();
    if (!result_.taken.empty() && result_.taken.back().fence == 0) result_.taken.pop_back();
    if (result_.taken.empty()) {
      Trouble trouble = *trouble_of(answer);
      trouble.maybe_done = trouble.maybe_done || asked > 0;
      return answer_(nullptr, trouble);
    }
    const std::size_t end = std::min(asked + 1, runs_.size());
    for (std::size_t i = result_.taken.size(); i < end; ++i)
      result_.maybe_locked.push_back(runs_[i]);
    answer_(&result_, {});  // what it has, it has
  }

  void finish() {
    over_ = true;
    answer_(&result_, {});
  }

  void next() {
    if (result_.taken.size() == runs_.size()) return finish();
    if (result_.left == 0) {
      result_.status = ClaimStatus::none;
      return finish();
    }
    if (looked_ == most_looked_at || result_.bytes >= most_bytes_looked_at) {
      result_.status = ClaimStatus::more;
      return finish();
    }
    if (limit_ == 0) return look();
    enter_fleet();
  }

  /// A place first: two hosts that reach for the last one both step back, and neither is too many.
  void enter_fleet() {
    const std::string& run = runs_[result_.taken.size()];
    const std::string now = std::to_string(now_us_ / 1000);
    const std::string until = std::to_string(now_us_ / 1000 + expiry_ms_);
    ask({"ZREMRANGEBYSCORE", keys_.slots, "-inf", now}, [](const redis::Reply&) {});
    ask({"ZADD", keys_.slots, until, run}, [](const redis::Reply&) {});
    ask({"PEXPIRE", keys_.slots, std::to_string(slots_life(expiry_ms_))},
        [](const redis::Reply&) {});
    ask({"ZCARD", keys_.slots}, [this](const redis::Reply& reply) {
      if (reply.integer() <= static_cast<std::int64_t>(limit_)) return look();
      result_.status = ClaimStatus::full;
      leave_fleet();
      finish();
    });
  }

  void leave_fleet() { client_.call({"ZREM", keys_.slots, runs_[result_.taken.size()]}); }

  void look() {
    ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"}, [this](const redis::Reply& reply) {
      if (reply.is_nil()) {
        result_.status = ClaimStatus::none;
        if (limit_ > 0) leave_fleet();
        return finish();
      }
      ++looked_;
      --result_.left;
      Item item(reply.text());
      result_.bytes += item.size();
      result_.longest = std::max(result_.longest, item.size());
      if (item.size() > longest_item) return park(item);
      if (!indexed_) return lock(item);
      ask({"HGET", keys_.quarantined, item}, [this, item](const redis::Reply& note) {
        if (note.is_nil()) return lock(item);
        quarantine(item, read_note(note.text()).run);
      });
    });
  }

  void park(const Item& item) {
    const std::string value = quarantine_prefix + runs_[result_.taken.size()];
    if (limit_ > 0) leave_fleet();
    ask({"SET", keys_.lock(item), value, "NX"}, [this, item](const redis::Reply& reply) {
      if (reply.is_nil()) return next();
      result_.parked.emplace_back(item);
      client_.call({"HSET", keys_.quarantined, item, parked_note_},
                   [self = shared_from_this()](const redis::Answer&) {
                     if (!self->over_ && *self->alive_) self->next();
                   });
    });
  }

  /// Its lock has another name (lock_key was changed), or was to come with the end of its run.
  void quarantine(const Item& item, const RunId& run) {
    const std::string value = quarantine_prefix + (run.empty() ? "manual" : run);
    if (limit_ > 0) leave_fleet();
    ask({"SET", keys_.lock(item), value, "NX"}, [this](const redis::Reply&) { next(); });
  }

  void lock(const Item& item) {
    const std::string value = value_prefix_ + runs_[result_.taken.size()];
    ask({"SET", keys_.lock(item), value, "PX", expiry_, "NX"},
        [this, item](const redis::Reply& reply) {
          if (!reply.is_nil()) return take(item);
          if (limit_ > 0) leave_fleet();
          next();
        });
  }

  void take(const Item& item) {
    result_.taken.push_back(Taken{item, 0, 0});
    ask({"HGET", keys_.failures, item}, [this](const redis::Reply& reply) {
      result_.taken.back().failures = static_cast<unsigned>(reply.integer());
    });
    ask({"INCR", keys_.fence}, [this](const redis::Reply& reply) {
      if (reply.integer() >= now_us_) return fenced(reply.integer());
      const std::string lag = std::to_string(now_us_ - reply.integer());
      ask({"INCRBY", keys_.fence, lag},
          [this](const redis::Reply& caught_up) { fenced(caught_up.integer()); });
    });
  }

  void fenced(std::int64_t fence) {
    result_.taken.back().fence = static_cast<std::uint64_t>(fence);
    next();
  }

  redis::Client& client_;
  std::shared_ptr<bool> alive_;
  CircularKeys keys_;
  std::string value_prefix_;
  std::string parked_note_;
  std::vector<RunId> runs_;
  std::string expiry_;
  std::int64_t expiry_ms_;
  unsigned limit_;
  Answer<ClaimResult> answer_;
  ClaimResult result_;
  std::int64_t now_us_ = 0;
  std::size_t looked_ = 0;
  bool indexed_ = false;  ///< something is quarantined
  bool over_ = false;
};

void PlainLocks::claim(const ClaimCall& call, Answer<ClaimResult> answer) {
  // Who has no scripts is in no line: only a place from before may be left.
  if (call.runs.empty())
    return client_.call({"ZREM", call.keys.waiting, call.value_prefix},
                        [answer = std::move(answer)](const redis::Answer&) {
                          const ClaimResult none;
                          answer(&none, {});
                        });
  std::make_shared<ClaimPass>(*this, call, std::move(answer))->begin();
}

// ---- compare and swap of a lock

struct PlainLocks::Swap {
  std::string key;
  Commands reads;  ///< besides the lock
  std::function<Change(const Found& found)> decide;
  Answer<Swapped> answer;
  Swapped result;
};

struct PlainLocks::Reading {
  Found found;
  bool locked = false;
  std::optional<Trouble> trouble;
};

void PlainLocks::swap(std::string key, Commands reads, std::function<Change(const Found&)> decide,
                      Answer<Swapped> answer) {
  swaps_.push_back(std::make_unique<Swap>(
      Swap{std::move(key), std::move(reads), std::move(decide), std::move(answer), {}}));
  if (swaps_.size() == 1) next_swap();
}

void PlainLocks::next_swap() {
  client_.call({"WATCH", swaps_.front()->key});
  read(0, std::make_shared<Reading>());
}

void PlainLocks::read(std::size_t at, const std::shared_ptr<Reading>& reading) {
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
void PlainLocks::read_lock(const std::shared_ptr<Reading>& reading) {
  const std::string& key = swaps_.front()->key;
  client_.call({"PTTL", key}, [reading](const redis::Answer& got) {
    if (!reading->trouble) reading->trouble = trouble_of(got);
    reading->locked = got.reply.integer() != not_there;
  });
  client_.call({"GETRANGE", key, "0", most_of_value},
               [this, alive = alive_, reading](const redis::Answer& got) {
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
    if (!forbidden_.contains(words.front())) return false;
    swaps_.front()->result.refused = "this user needs the right to " + words.front();
    return true;
  });
  if (change.commands.empty() && change.notes.empty()) {
    client_.call({"UNWATCH"});
    swaps_.front()->result.done = true;
    return finish_swap(nullptr);
  }
  client_.call({"MULTI"});
  // What a queued command is refused for says more than EXEC, which then says EXECABORT.
  const auto refused = std::make_shared<std::optional<Trouble>>();
  const auto left_out = std::make_shared<bool>(false);
  const auto queue = [&](const std::vector<std::string>& words, bool note) {
    client_.call(borrow(words), [this, alive = alive_, refused, left_out, note,
                                 name = words.front()](const redis::Answer& queued) {
      if (!*alive || queued.error() == redis::ErrorCode::none || *refused) return;
      if (note && forbids(queued)) {
        forbidden_.insert(name);
        *left_out = true;
      } else {
        *refused = trouble_of(queued);
      }
    });
  };
  for (const auto& command : change.commands) queue(command, false);
  for (const auto& command : change.notes) queue(command, true);
  client_.call({"EXEC"}, [this, alive = alive_, refused, left_out,
                          certain = change.commands.size()](const redis::Answer& executed) {
    if (!*alive) return;
    if (executed.ok()) return look_inside(executed.reply, certain);
    if (*left_out && !*refused) return next_swap();  // again, without those
    const Trouble trouble = *refused ? **refused : *trouble_of(executed);
    finish_swap(&trouble);
  });
}

/// EXEC is carried out to its end, whatever becomes of each command.
void PlainLocks::look_inside(const redis::Reply& replies, std::size_t certain) {
  Swapped& result = swaps_.front()->result;
  result.done = !replies.is_nil();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const redis::Answer answer{redis::Failure::none, replies[i], {}};
    if (const auto trouble = trouble_of(answer)) {
      if (i < certain) return finish_swap(&*trouble);
      result.refused = trouble->why;
    } else {
      result.replies.emplace_back(answer.reply);
    }
  }
  finish_swap(nullptr);
}

void PlainLocks::finish_swap(const Trouble* trouble) {
  const std::unique_ptr<Swap> over = std::move(swaps_.front());
  swaps_.pop_front();
  if (!swaps_.empty()) next_swap();
  if (trouble != nullptr) return over->answer(nullptr, *trouble);
  over->answer(&over->result, {});
}

// ---- renew

void PlainLocks::renew(const RenewCall& call, Answer<std::vector<Renewed>> answer) {
  struct Batch {
    std::vector<Renewed> states;
    std::size_t unanswered = 0;
    std::optional<Trouble> trouble;
    Answer<std::vector<Renewed>> answer;
  };
  auto batch = std::make_shared<Batch>();
  batch->states.assign(call.locks.size(), Renewed::foreign);
  batch->unanswered = call.locks.size();
  batch->answer = std::move(answer);
  const std::string life = ms_text(call.expiry);
  for (std::size_t i = 0; i < call.locks.size(); ++i) {
    const RenewLock& lock = call.locks[i];
    const auto decide = [batch, i, lock, life](const Found& found) -> Change {
      Renewed& state = batch->states[i];
      if (!found.lock) {
        state = lock.retake ? Renewed::retaken : Renewed::gone;
        if (lock.retake) return {{{"SET", lock.key, lock.value, "PX", life}}, {}};
      } else if (*found.lock == lock.value) {
        state = Renewed::renewed;
        return {{{"PEXPIRE", lock.key, life}}, {}};
      }
      return {};
    };
    swap(lock.key, {}, decide, [batch, i](const Swapped* swapped, const Trouble& trouble) {
      Renewed& state = batch->states[i];
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
      const bool none = std::ranges::none_of(batch->states, [](Renewed each) {
        return each == Renewed::renewed || each == Renewed::retaken;
      });
      if (batch->trouble && none) return batch->answer(nullptr, *batch->trouble);
      batch->answer(&batch->states, {});
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
    const auto now_ms = time.reply[0].integer() * 1000 + time.reply[1].integer() / 1000;
    const std::string until = ms_text(std::chrono::milliseconds(now_ms) + expiry);
    for (const auto& run : runs) client_.call({"ZADD", key, until, run});
    client_.call(
        {"PEXPIRE", key,
         std::to_string(slots_life(std::chrono::duration_cast<WallTime>(expiry).count()))});
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
    for (std::size_t i = 0; some.ok() && i < some.reply.size(); ++i)
      sweep_entry(keys, hash, std::string(some.reply[i].text()));
    over();
  });
}

void PlainLocks::sweep_entry(const CircularKeys& keys, const std::string& hash, const Item& item) {
  for (const std::string& lock : {keys.lock(item), keys.other_lock_prefix + item}) {
    const auto decide = [lock, hash, item](const Found& found) -> Change {
      if (!found.reads.front().is_nil()) return {};
      Change change{{{"HDEL", hash, item}}, {}};
      if (found.lock && found.lock->starts_with(quarantine_prefix))
        change.commands.push_back({"DEL", lock});
      return change;
    };
    swap(lock, {{"LPOS", keys.list, item}}, decide, [](const Swapped*, const Trouble&) {});
  }
}

// ---- settle

/// What an end finds.
struct PlainLocks::Standing {
  std::optional<std::string> lock;
  bool ordered = false;  ///< an operator has it quarantined
  bool listed = true;    ///< looked at only if it would be quarantined for its failures
  bool written = false;  ///< its history and news are
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
    const bool rests =
        !call.new_value.empty() && !call.for_good() && (counts || call.new_value == rest_cooldown);
    if (parks) {
      change.commands.push_back({"SET", call.lock, quarantine_prefix + call.run});
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
  } else if (!at.lock && !call.again && !at.ordered && call.new_value == rest_cooldown) {
    change.commands.push_back(
        {"SET", call.lock, call.new_value, "PX", ms_text(call.new_life), "NX"});
  }
  change.notes.push_back({"ZREM", keys.slots, call.run});
  if (!at.written) {
    if (call.history > 0) {
      std::vector<std::string> add{
          "XADD", keys.runs, "MAXLEN", "=",    std::to_string(call.history),
          "*",    "run",     call.run, "item", std::string(shown_part(call.item))};
      add.insert(add.end(), call.entry.begin(), call.entry.end());
      if (call.item.size() > item_shown)
        add.insert(add.end(), {"item_length", std::to_string(call.item.size())});
      change.notes.push_back(std::move(add));
    }
    if (!call.event.empty()) change.notes.push_back({"PUBLISH", keys.events, call.event});
  }
  change.notes.push_back({"PUBLISH", keys.wake, "free"});
  return change;
}

void PlainLocks::settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
                        SettleAnswer answer) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    settle_one(keys, *calls[i], [answer, i](const Trouble* trouble) { answer(i, trouble); });
}

void PlainLocks::settle_one(const CircularKeys& keys, const SettleCall& call, Settled answer) {
  Commands reads{{"HEXISTS", keys.quarantined, call.item}};
  // A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
  if (call.for_good()) reads.push_back({"LPOS", keys.list, call.item});
  const bool look_it_up = call.again && call.history > 0;
  if (look_it_up) reads.push_back({"XREVRANGE", keys.runs, "+", "-", "COUNT", "100"});
  const auto decide = [keys, call, look_it_up](const Found& found) {
    const bool ordered = found.reads.front().number == 1;
    const bool listed = !call.for_good() || !found.reads[1].is_nil();
    const bool written = look_it_up && tells_of(found.reads.back(), call.run);
    return change_of(keys, call, {found.lock, ordered, listed, written});
  };
  swap(call.lock, std::move(reads), decide,
       [this, keys, call, answer = std::move(answer)](const Swapped* swapped,
                                                      const Trouble& trouble) {
         if (swapped == nullptr) return answer(&trouble);
         if (!swapped->done) return settle_one(keys, call, answer);  // changed meanwhile
         if (swapped->refused.empty()) return answer(nullptr);
         Trouble noted;
         noted.settled = true;
         noted.why = swapped->refused;
         answer(&noted);
       });
}

}  // namespace w8y::source
