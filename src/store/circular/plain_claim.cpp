// PlainLocks::claim: a look at one item after the other.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/circular/plain_words.hpp"
#include "store/lock_value.hpp"
#include "store/rights.hpp"

namespace w8y::store {

namespace {

/// Where so many were locked, all of the rest are, as a rule: one number says it of many.
constexpr std::size_t looked_at_one_by_one = 4;
/// Of those, by one pass.
constexpr std::int64_t most_ahead = 4096;
/// And by one reply; where it isn't known how long items of the list are, no more of the longest
/// than a reply may have (256 MiB).
constexpr std::size_t most_read_ahead = 32;
constexpr std::size_t most_read_unknown = 15;

}  // namespace

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
        answer_(std::move(answer)),
        known_longest_(call.longest.value_or(0)),
        most_read_ahead_(call.longest ? most_read_ahead : most_read_unknown) {
    result_.left = call.left;
    result_.commands = 0;
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
    call({"HLEN", keys_.quarantined}, [self = shared_from_this()](const redis::Answer& answer) {
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
  void call(const redis::Command& command, redis::Client::Callback then) {
    ++result_.commands;
    client_.call(command, std::move(then));
  }

  /// Every step holds the pass alive; trouble ends it.
  void ask(const redis::Command& command, std::function<void(const redis::Reply&)> then) {
    call(command, [self = shared_from_this(), then = std::move(then)](const redis::Answer& answer) {
      if (self->over_ || !*self->alive_) return;
      if (!answer.ok()) return self->fail(answer);
      then(answer.reply);
    });
  }

  void fail(const redis::Answer& answer) {
    over_ = true;
    // What can't be read is an item, which has no lock then.
    const bool unread = answer.failure == redis::Failure::reply_too_large;
    // One that has no fence yet is not begun.
    const std::size_t asked = result_.taken.size();
    if (!result_.taken.empty() && result_.taken.back().fence == 0) result_.taken.pop_back();
    if (result_.taken.empty()) {
      StoreError trouble = *trouble_of(answer);
      trouble.maybe_done = (trouble.maybe_done || asked > 0) && !unread;
      return answer_(nullptr, trouble);
    }
    const std::size_t end = unread ? 0 : std::min(asked + 1, runs_.size());
    for (std::size_t i = result_.taken.size(); i < end; ++i)
      result_.maybe_locked.push_back(runs_[i]);
    result_.too_long = trouble_of(answer)->too_long;
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
    if (looked_ >= look_ahead_at_ && result_.taken.empty()) return look_ahead(0);
    if (limit_ == 0) return look();
    enter_fleet();
  }

  /// At those that come next, as many as can be read at once, and so on while all are locked: these
  /// stay where they are, since one turn of the whole list would change nothing.
  void look_ahead(std::int64_t from) {
    // What is known of the items is how long those are that were read.
    const std::size_t most = at_once(std::max(known_longest_, result_.longest));
    piece_ = std::min({2 * piece_, most, most_read_ahead_});
    const std::int64_t count = std::min(static_cast<std::int64_t>(piece_), result_.left);
    ask({"LRANGE", keys_.list, std::to_string(from), std::to_string(from + count - 1)},
        [this, from](const redis::Reply& reply) {
          std::vector<std::string> names;
          for (std::size_t i = 0; i < reply.size(); ++i) {
            const std::string_view item = reply[i].text();
            result_.bytes += item.size();
            result_.longest = std::max(result_.longest, item.size());
            names.push_back(keys_.lock_prefix + std::string(item));
          }
          if (!names.empty()) return are_locked(names, from);
          result_.left = 0;  // the list is shorter by now
          next();
        });
  }

  void are_locked(const std::vector<std::string>& names, std::int64_t from) {
    redis::Command command{"EXISTS"};
    command.insert(command.end(), names.begin(), names.end());
    const auto count = static_cast<std::int64_t>(names.size());
    call(command, [self = shared_from_this(), from, count](const redis::Answer& answer) {
      if (self->over_ || !*self->alive_) return;
      if (answer.ok()) return self->locked(answer.reply.integer() == count, from, count);
      if (!forbids_command(answer)) return self->fail(answer);
      self->look_ahead_at_ = SIZE_MAX;
      self->turn(from);
    });
  }

  void locked(bool all, std::int64_t from, std::int64_t count) {
    if (!all) {
      look_ahead_at_ = looked_ + static_cast<std::size_t>(count);
      return turn(from);
    }
    result_.left -= count;
    if (result_.left == 0) return next();
    if (from + count < most_ahead && result_.bytes < most_bytes_looked_at)
      return look_ahead(from + count);
    looked_ = most_looked_at;
    turn(from + count);
  }

  /// Past what is locked.
  void turn(std::int64_t by) {
    for (; by > 1; --by)
      ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"}, [](const redis::Reply&) {});
    if (by == 0) return next();
    ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"},
        [this](const redis::Reply&) { next(); });
  }

  /// A place first: two hosts that reach for the last one both step back, and neither is too many.
  void enter_fleet() {
    const std::string run = runs_[result_.taken.size()].str();
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
      // After which run, its note says: another's may be of any length, and is not read for that.
      ask({"HEXISTS", keys_.quarantined, item}, [this, item](const redis::Reply& noted) {
        if (noted.integer() == 0) return lock(item);
        quarantine(item);
      });
    });
  }

  void park(const Item& item) {
    const std::string value = quarantined_lock(runs_[result_.taken.size()]);
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
  void quarantine(const Item& item) {
    const std::string value = quarantined_lock("manual");
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
    counted_ = false;
    note_visit(item);
    ask({"HEXISTS", keys_.failures, item}, [this, item](const redis::Reply& reply) {
      if (reply.integer() == 0) return counted(0);
      count(item);
    });
    ask({"INCR", keys_.fence}, [this](const redis::Reply& reply) {
      if (reply.integer() >= now_us_) return fenced(reply.integer());
      const std::string lag = std::to_string(now_us_ - reply.integer());
      ask({"INCRBY", keys_.fence, lag},
          [this](const redis::Reply& caught_up) { fenced(caught_up.integer()); });
    });
  }

  /// Of the few items whose visits are noted. Nobody waits for it.
  void note_visit(const Item& item) {
    call({"HMGET", keys_.visits, item},
         [self = shared_from_this(), item](const redis::Answer& answer) {
           if (!*self->alive_ || !answer.ok() || answer.reply[0].is_nil()) return;
           const auto last = read_visit_note(answer.reply[0].text());
           if (!last) return;
           const std::int64_t now = self->now_us_ / 1000;
           VisitNote note{now, 0, 0};
           if (last->visit > 0) note.gap = std::max<std::int64_t>(1, now - last->visit);
           self->client_.call({"HSET", self->keys_.visits, item, to_text(note)});
         });
  }

  /// Redis tells a number only: what is none may be of any length, and is forgotten.
  void count(const Item& item) {
    call({"HINCRBY", keys_.failures, item, "0"},
         [self = shared_from_this(), item](const redis::Answer& answer) {
           if (self->over_ || !*self->alive_) return;
           if (answer.problem().find("not an integer") != std::string::npos)
             self->client_.call({"HDEL", self->keys_.failures, item});
           self->counted(answer.ok() ? answer.reply.integer() : 0);
         });
  }

  void counted(std::int64_t failures) {
    result_.taken.back().failures = static_cast<unsigned>(failures);
    counted_ = true;
    if (result_.taken.back().fence != 0) next();
  }

  void fenced(std::int64_t fence) {
    result_.taken.back().fence = static_cast<std::uint64_t>(fence);
    if (counted_) next();
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
  std::size_t look_ahead_at_ = looked_at_one_by_one;
  std::size_t piece_ = looked_at_one_by_one;  ///< read ahead at once
  std::size_t known_longest_;
  const std::size_t most_read_ahead_;
  bool indexed_ = false;  ///< something is quarantined
  bool counted_ = true;   ///< the failures of the last that was taken are known
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

}  // namespace w8y::store
