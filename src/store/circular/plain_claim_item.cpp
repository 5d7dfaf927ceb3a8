// PlainLocks::claim_item: a place in the fleet, then the lock by compare and swap, then what is
// told of the claim.
#include <memory>
#include <utility>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/circular/plain_words.hpp"
#include "store/lock_value.hpp"

namespace w8y::store {

class PlainLocks::ItemSteps : public std::enable_shared_from_this<PlainLocks::ItemSteps> {
 public:
  ItemSteps(PlainLocks& locks, const ClaimItemCall& call, Answer<ClaimItemResult> answer)
      : locks_(locks),
        client_(locks.client_),
        alive_(locks.alive_),
        keys_(call.keys),
        lock_(keys_.lock(call.item)),
        value_(call.value),
        run_(call.run),
        item_(call.item),
        expiry_(ms_text(call.expiry)),
        limit_(call.fleet_limit),
        answer_(std::move(answer)) {}

  void begin() {
    ask({"TIME"}, [this](const redis::Reply& reply) {
      now_us_ = redis::server_time_us(reply);
      if (limit_ == 0) return lock();
      enter_fleet();
    });
  }

 private:
  void ask(const redis::Command& command, std::function<void(const redis::Reply&)> then) {
    client_.call(command,
                 [self = shared_from_this(), then = std::move(then)](const redis::Answer& answer) {
                   if (self->over_ || !*self->alive_) return;
                   if (!answer.ok()) return self->fail(*trouble_of(answer));
                   then(answer.reply);
                 });
  }

  void fail(const StoreError& trouble) {
    over_ = true;
    leave_fleet();
    answer_(nullptr, trouble);
  }

  void finish() {
    over_ = true;
    if (result_.result != ItemClaim::Result::claimed) leave_fleet();
    answer_(&result_, {});
  }

  /// As a pass does it: who finds too many there steps back.
  void enter_fleet() {
    const std::int64_t now_ms = now_us_ / 1000;
    const std::int64_t life = std::stoll(expiry_);
    ask({"ZREMRANGEBYSCORE", keys_.slots, "-inf", std::to_string(now_ms)},
        [](const redis::Reply&) {});
    ask({"ZADD", keys_.slots, std::to_string(place_until(now_ms, life)), run_},
        [](const redis::Reply&) {});
    ask({"PEXPIRE", keys_.slots, std::to_string(slots_life(life))}, [](const redis::Reply&) {});
    in_fleet_ = true;
    ask({"ZCARD", keys_.slots}, [this](const redis::Reply& reply) {
      if (reply.integer() <= static_cast<std::int64_t>(limit_)) return lock();
      result_.result = ItemClaim::Result::fleet_full;
      finish();
    });
  }

  void leave_fleet() {
    if (std::exchange(in_fleet_, false)) client_.call({"ZREM", keys_.slots, run_});
  }

  void lock() {
    locks_.swap(
        lock_,
        {{"PTTL", keys_.paused},
         {"GETRANGE", keys_.paused, "0", std::to_string(item_shown)},
         {"LPOS", keys_.list, item_},
         {"HEXISTS", keys_.quarantined, item_}},
        [self = shared_from_this()](const Found& found) { return self->decide(found); },
        [self = shared_from_this()](const Swapped* swapped, const StoreError& trouble) {
          if (!*self->alive_) return;
          if (swapped == nullptr) return self->fail(trouble);
          if (!swapped->done) self->result_.result = ItemClaim::Result::running;
          if (self->result_.result != ItemClaim::Result::claimed) return self->finish();
          self->tell();
        });
  }

  Change decide(const Found& found) {
    using Result = ItemClaim::Result;
    result_.result = Result::claimed;
    const bool rests = found.lock && is_resting(*found.lock);
    if (found.reads[0].number != not_there) {
      result_.result = Result::paused;
      result_.detail = shown_part(found.reads[1].text);
    } else if (found.reads[2].is_nil() || found.reads[2].is_error()) {
      result_.result = Result::not_listed;
    } else if ((found.lock && is_quarantined(*found.lock)) || found.reads[3].number == 1) {
      result_.result = found.lock && !rests && !is_quarantined(*found.lock) ? Result::running
                                                                            : Result::quarantined;
    } else if (found.lock && !rests) {
      result_.result = Result::running;
    }
    if (result_.result == Result::running && found.lock) result_.detail = shown_part(*found.lock);
    if (result_.result != Result::claimed) return {};
    return {{{"SET", lock_, value_, "PX", expiry_}}, {}};
  }

  /// As a pass tells of what it has taken.
  void tell() {
    ask({"HEXISTS", keys_.failures, item_}, [this](const redis::Reply& reply) {
      if (reply.integer() == 0) return fence();
      client_.call({"HINCRBY", keys_.failures, item_, "0"},
                   [self = shared_from_this()](const redis::Answer& answer) {
                     if (!*self->alive_) return;
                     if (answer.ok())
                       self->result_.failures = static_cast<unsigned>(answer.reply.integer());
                     self->fence();
                   });
    });
  }

  void fence() {
    ask({"INCR", keys_.fence}, [this](const redis::Reply& reply) { raise_fence(reply.integer()); });
  }

  void raise_fence(std::int64_t fence) {
    if (fence >= now_us_) return fenced(fence);
    const std::string lag = std::to_string(fence_lag(now_us_, fence));
    ask({"INCRBY", keys_.fence, lag},
        [this](const redis::Reply& reply) { raise_fence(reply.integer()); });
  }

  void fenced(std::int64_t fence) {
    result_.fence = static_cast<std::uint64_t>(fence);
    finish();
  }

  PlainLocks& locks_;
  redis::Client& client_;
  std::shared_ptr<bool> alive_;
  CircularKeys keys_;
  std::string lock_;
  std::string value_;
  RunId run_;
  Item item_;
  std::string expiry_;
  unsigned limit_;
  Answer<ClaimItemResult> answer_;
  ClaimItemResult result_;
  std::int64_t now_us_ = 0;
  bool in_fleet_ = false;
  bool over_ = false;
};

void PlainLocks::claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer) {
  std::make_shared<ItemSteps>(*this, call, std::move(answer))->begin();
}

}  // namespace w8y::store
