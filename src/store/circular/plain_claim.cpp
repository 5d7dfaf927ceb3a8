// PlainLocks::claim: a look at one item after the other.
#include "store/circular/plain_claim.hpp"

#include <algorithm>
#include <utility>

#include "store/circular/plain_words.hpp"
#include "store/lock_value.hpp"
#include "store/rights.hpp"

namespace w8y::store {

namespace {

/// Read ahead by one reply; where it isn't known how long items of the list are, no more of the
/// longest than a reply may have (256 MiB).
constexpr std::size_t most_read_ahead = 32;
constexpr std::size_t most_read_unknown = 15;

}  // namespace

PlainLocks::ClaimPass::ClaimPass(PlainLocks& locks, const ClaimCall& call,
                                 Answer<ClaimResult> answer)
    : locks_(locks),
      client_(locks.client_),
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
      most_read_ahead_(call.longest ? most_read_ahead : most_read_unknown),
      ends_(call.left == ClaimCall::only_ends) {
  result_.left = call.left;
  result_.commands = 0;
  // To look whether an item can be had costs more where a place has to be had first.
  if (limit_ > 0) look_ahead_at_ = 0;
}

void PlainLocks::ClaimPass::begin() {
  // A reason may be of any length.
  ask({"PTTL", keys_.paused}, [this](const redis::Reply& reply) {
    if (reply.integer() != not_there) result_.status = ClaimStatus::paused;
  });
  const std::string last = std::to_string(item_shown);
  ask({"GETRANGE", keys_.paused, "0", last},
      [this](const redis::Reply& reply) { result_.detail = shown_part(reply.text()); });
  ask({"TIME"}, [this](const redis::Reply& reply) { now_us_ = redis::server_time_us(reply); });
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

void PlainLocks::ClaimPass::call(const redis::Command& command, redis::Client::Callback then) {
  ++result_.commands;
  client_.call(command, std::move(then));
}

void PlainLocks::ClaimPass::ask(const redis::Command& command,
                                std::function<void(const redis::Reply&)> then) {
  call(command, [self = shared_from_this(), then = std::move(then)](const redis::Answer& answer) {
    if (self->over_ || !*self->alive_) return;
    if (!answer.ok()) return self->fail(answer);
    then(answer.reply);
  });
}

void PlainLocks::ClaimPass::fail(const redis::Answer& answer) {
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
  for (std::size_t i = result_.taken.size(); i < end; ++i) result_.maybe_locked.push_back(runs_[i]);
  result_.too_long = trouble_of(answer)->too_long;
  answer_(&result_, {});  // what it has, it has
}

void PlainLocks::ClaimPass::finish() {
  over_ = true;
  answer_(&result_, {});
}

void PlainLocks::ClaimPass::next() {
  if (result_.taken.size() == runs_.size()) return finish();
  if (result_.left == 0) {
    result_.status = ClaimStatus::none;
    return finish();
  }
  if (looked_ >= most_looked_at || result_.bytes >= most_bytes_looked_at) {
    result_.status = ClaimStatus::more;
    return finish();
  }
  if (looked_ >= look_ahead_at_ && result_.taken.empty())
    return look_ahead(std::exchange(all_locked_, 0));
  // What it has is enough for now: the next pass looks at many at once.
  const bool brought_all = looked_ >= look_ahead_at_ && all_locked_ > 0;
  if (!result_.taken.empty() && (brought_all || misses_ >= looked_at_one_by_one)) {
    result_.status = ClaimStatus::more;
    return finish();
  }
  reach();
}

void PlainLocks::ClaimPass::reach() {
  if (limit_ == 0) return look();
  enter_fleet();
}

/// A place first: two hosts that reach for the last one both step back, and neither is too many.
void PlainLocks::ClaimPass::enter_fleet() {
  const std::string run = runs_[result_.taken.size()].str();
  const std::string now = std::to_string(now_us_ / 1000);
  const std::string until = std::to_string(place_until(now_us_ / 1000, expiry_ms_));
  ask({"ZREMRANGEBYSCORE", keys_.slots, "-inf", now}, [](const redis::Reply&) {});
  ask({"ZADD", keys_.slots, until, run}, [](const redis::Reply&) {});
  ask({"PEXPIRE", keys_.slots, std::to_string(slots_life(expiry_ms_))}, [](const redis::Reply&) {});
  ask({"ZCARD", keys_.slots}, [this](const redis::Reply& reply) {
    if (reply.integer() <= static_cast<std::int64_t>(limit_)) return look();
    result_.status = ClaimStatus::full;
    leave_fleet();
    finish();
  });
}

void PlainLocks::ClaimPass::leave_fleet() {
  client_.call({"ZREM", keys_.slots, runs_[result_.taken.size()]});
}

void PlainLocks::ClaimPass::look() {
  ++looked_;
  if (in_place_) return consider(*std::exchange(in_place_, std::nullopt));
  ask({"LMOVE", keys_.list, keys_.list, "LEFT", "RIGHT"}, [this](const redis::Reply& reply) {
    if (reply.is_nil()) {
      result_.status = ClaimStatus::none;
      if (limit_ > 0) leave_fleet();
      return finish();
    }
    --result_.left;
    const Item item(reply.text());
    result_.bytes += item.size();
    result_.longest = std::max(result_.longest, item.size());
    consider(item);
  });
}

void PlainLocks::ClaimPass::consider(const Item& item) {
  if (item.size() > longest_item) return park(item);
  if (!indexed_) return lock(item);
  // After which run, its note says: another's may be of any length, and is not read for that.
  ask({"HEXISTS", keys_.quarantined, item}, [this, item](const redis::Reply& noted) {
    if (noted.integer() == 0) return lock(item);
    quarantine(item);
  });
}

void PlainLocks::ClaimPass::park(const Item& item) {
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
void PlainLocks::ClaimPass::quarantine(const Item& item) {
  const std::string value = quarantined_lock("manual");
  if (limit_ > 0) leave_fleet();
  ask({"SET", keys_.lock(item), value, "NX"}, [this](const redis::Reply&) { next(); });
}

void PlainLocks::ClaimPass::lock(const Item& item) {
  const std::string value = value_prefix_ + runs_[result_.taken.size()];
  ask({"SET", keys_.lock(item), value, "PX", expiry_, "NX"},
      [this, item](const redis::Reply& reply) {
        if (!reply.is_nil()) return take(item);
        ++misses_;
        if (limit_ > 0) leave_fleet();
        next();
      });
}

void PlainLocks::ClaimPass::take(const Item& item) {
  misses_ = 0;
  result_.taken.push_back(Taken{item, 0, 0});
  counted_ = false;
  note_visit(item);
  ask({"HEXISTS", keys_.failures, item}, [this, item](const redis::Reply& reply) {
    if (reply.integer() == 0) return counted(0);
    count(item);
  });
  ask({"INCR", keys_.fence}, [this](const redis::Reply& reply) { raise_fence(reply.integer()); });
}

void PlainLocks::ClaimPass::raise_fence(std::int64_t fence) {
  if (fence >= now_us_) return fenced(fence);
  const std::string lag = std::to_string(fence_lag(now_us_, fence));
  ask({"INCRBY", keys_.fence, lag},
      [this](const redis::Reply& reply) { raise_fence(reply.integer()); });
}

/// Of the few items whose visits are noted. Nobody waits for it.
void PlainLocks::ClaimPass::note_visit(const Item& item) {
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
void PlainLocks::ClaimPass::count(const Item& item) {
  call({"HINCRBY", keys_.failures, item, "0"},
       [self = shared_from_this(), item](const redis::Answer& answer) {
         if (self->over_ || !*self->alive_) return;
         if (answer.problem().find("not an integer") != std::string::npos)
           self->client_.call({"HDEL", self->keys_.failures, item});
         self->counted(answer.ok() ? answer.reply.integer() : 0);
       });
}

void PlainLocks::ClaimPass::counted(std::int64_t failures) {
  result_.taken.back().failures = static_cast<unsigned>(failures);
  counted_ = true;
  if (result_.taken.back().fence != 0) next();
}

void PlainLocks::ClaimPass::fenced(std::int64_t fence) {
  result_.taken.back().fence = static_cast<std::uint64_t>(fence);
  if (counted_) next();
}
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
