#include "source/plain_locks.hpp"

#include <algorithm>
#include <utility>

#include "redis/client.hpp"

namespace w8y::source {

namespace {

std::string ms_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

Trouble trouble_of(const redis::Answer& answer) {
  return Trouble{answer.failure == redis::Failure::lost, answer.error(), answer.problem()};
}

/// Each place has its own end, in its score; this is only so that the key has one too.
std::int64_t slots_life(std::int64_t expiry_ms) {
  return std::max<std::int64_t>(86'400'000, 2 * expiry_ms);
}

redis::Command borrow(const std::vector<std::string>& words) {
  return redis::Command(words.begin(), words.end());
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
        runs_(call.runs),
        expiry_(ms_text(call.expiry)),
        expiry_ms_(std::stoll(expiry_)),
        limit_(call.fleet_limit),
        answer_(std::move(answer)) {
    result_.left = call.left;
  }

  void begin() {
    ask({"GET", keys_.paused}, [this](const redis::Reply& reply) {
      if (reply.is_nil()) return;
      result_.status = ClaimStatus::paused;
      result_.detail = reply.text();
    });
    ask({"TIME"}, [this](const redis::Reply& reply) {
      now_us_ = reply[0].integer() * 1000000 + reply[1].integer();
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
      Trouble trouble = trouble_of(answer);
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
    if (looked_ == most_looked_at) {
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
      lock(std::string(reply.text()));
    });
  }

  void lock(Item item) {
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
  std::vector<RunId> runs_;
  std::string expiry_;
  std::int64_t expiry_ms_;
  unsigned limit_;
  Answer<ClaimResult> answer_;
  ClaimResult result_;
  std::int64_t now_us_ = 0;
  std::size_t looked_ = 0;
  bool over_ = false;
};

void PlainLocks::claim(const ClaimCall& call, Answer<ClaimResult> answer) {
  std::make_shared<ClaimPass>(*this, call, std::move(answer))->begin();
}

// ---- compare and swap of a lock

struct PlainLocks::Swap {
  std::string key;
  std::function<Change(const std::string* found)> decide;
  Answer<bool> answer;
};

void PlainLocks::swap(std::string key, std::function<Change(const std::string*)> decide,
                      Answer<bool> answer) {
  swaps_.push_back(
      std::make_unique<Swap>(Swap{std::move(key), std::move(decide), std::move(answer)}));
  if (swaps_.size() == 1) next_swap();
}

void PlainLocks::next_swap() {
  Swap& swap = *swaps_.front();
  client_.call({"WATCH", swap.key});
  client_.call({"GET", swap.key}, [this, alive = alive_](const redis::Answer& got) {
    if (!*alive) return;
    if (!got.ok()) return finish_swap(nullptr, trouble_of(got));
    const std::string found(got.reply.text());
    const Change change = swaps_.front()->decide(got.reply.is_nil() ? nullptr : &found);
    if (change.empty()) {
      client_.call({"UNWATCH"});
      const bool done = true;
      return finish_swap(&done, {});
    }
    client_.call({"MULTI"});
    // What a queued command is refused for says more than EXEC, which then says EXECABORT.
    const auto refused = std::make_shared<std::optional<Trouble>>();
    for (const auto& command : change)
      client_.call(borrow(command), [refused](const redis::Answer& queued) {
        if (!*refused && queued.error() != redis::ErrorCode::none) *refused = trouble_of(queued);
      });
    client_.call({"EXEC"}, [this, alive, refused](const redis::Answer& executed) {
      if (!*alive) return;
      if (!executed.ok()) return finish_swap(nullptr, refused->value_or(trouble_of(executed)));
      const bool done = !executed.reply.is_nil();
      finish_swap(&done, {});
    });
  });
}

void PlainLocks::finish_swap(const bool* done, const Trouble& trouble) {
  const std::unique_ptr<Swap> over = std::move(swaps_.front());
  swaps_.pop_front();
  if (!swaps_.empty()) next_swap();
  over->answer(done, trouble);
}

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
    const auto decide = [batch, i, lock, life](const std::string* found) -> Change {
      Renewed& state = batch->states[i];
      if (found == nullptr) {
        state = lock.retake ? Renewed::retaken : Renewed::gone;
        if (lock.retake) return {{"SET", lock.key, lock.value, "PX", life}};
        return {};
      }
      if (*found != lock.value) return {};
      state = Renewed::renewed;
      return {{"PEXPIRE", lock.key, life}};
    };
    swap(lock.key, decide, [batch, i](const bool* done, const Trouble& trouble) {
      if (done == nullptr) batch->trouble = trouble;
      // Changed between GET and EXEC: not ours now; the next renewal will tell.
      if (done != nullptr && !*done) batch->states[i] = Renewed::foreign;
      if (--batch->unanswered > 0) return;
      if (batch->trouble) return batch->answer(nullptr, *batch->trouble);
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

void PlainLocks::settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
                        SettleAnswer answer) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    settle_one(keys, *calls[i], [answer, i](const Trouble* trouble) { answer(i, trouble); });
}

void PlainLocks::settle_one(const CircularKeys& keys, const SettleCall& call, Settled answer) {
  if (!call.for_good()) return settle_lock(keys, call, std::move(answer));
  // A quarantine has no end of its own: not for an item that was taken off the list meanwhile.
  client_.call(
      {"LPOS", keys.list, call.item},
      [this, alive = alive_, keys, call, answer = std::move(answer)](const redis::Answer& place) {
        if (!*alive) return;
        if (!place.ok()) {
          const Trouble trouble = trouble_of(place);
          return answer(&trouble);
        }
        SettleCall changed = call;
        if (place.reply.is_nil()) {
          changed.new_value.clear();
          changed.failures = "reset";
        }
        settle_lock(keys, changed, answer);
      });
}

void PlainLocks::settle_lock(const CircularKeys& keys, const SettleCall& call, Settled answer) {
  auto state = std::make_shared<Renewed>(Renewed::foreign);
  const auto decide = [state, call](const std::string* found) -> Change {
    if (found == nullptr) {
      *state = Renewed::gone;
    } else if (*found == call.value) {
      *state = Renewed::renewed;
    }
    const bool ours = *state == Renewed::renewed;
    if (ours && call.new_value.empty()) return {{"DEL", call.lock}};
    if (!ours && (*state != Renewed::gone || call.new_value.empty() || call.again)) return {};
    std::vector<std::string> set{"SET", call.lock, call.new_value};
    if (call.new_life > Duration{0}) set.insert(set.end(), {"PX", ms_text(call.new_life)});
    return {set};
  };
  swap(call.lock, decide,
       [this, state, keys, call, answer = std::move(answer)](const bool* done,
                                                             const Trouble& trouble) {
         if (done == nullptr) return answer(&trouble);
         if (!*done) *state = Renewed::foreign;
         if (*state != Renewed::foreign && !(call.again && *state == Renewed::gone)) {
           if (call.failures == "reset") client_.call({"HDEL", keys.failures, call.item});
           if (call.failures == "increment")
             client_.call({"HINCRBY", keys.failures, call.item, "1"});
         }
         client_.call({"ZREM", keys.slots, call.run});
         if (call.history > 0) {
           const std::string most = std::to_string(call.history);
           redis::Command add{"XADD", keys.runs, "MAXLEN", "=",    most,
                              "*",    "run",     call.run, "item", call.item};
           add.insert(add.end(), call.entry.begin(), call.entry.end());
           client_.call(add);
         }
         if (!call.event.empty()) client_.call({"PUBLISH", keys.events, call.event});
         // The last of them answers: then the others have been carried out too.
         client_.call({"PUBLISH", keys.wake, "free"},
                      [answer](const redis::Answer&) { answer(nullptr); });
       });
}

}  // namespace w8y::source
