#include "app/list_state_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "store/circular/keys.hpp"

namespace w8y::app {

namespace {

/// Number of lists whose queries are sent together.
constexpr std::size_t batch = 256;
/// The pause after a round is this many times the duration of the round, so that queries use at
/// most 1/5 of the time of Redis.
constexpr int pauses = 4;
/// Timeout of a request. A reply that arrives later is used for the next request.
constexpr Duration timeout = std::chrono::seconds(1);
/// Index of the last byte of a reason that is read.
constexpr const char* last_byte = "4095";

}  // namespace

void ListStateCache::refresh(const std::shared_ptr<store::RedisSession>& redis,
                             const Supervisor& supervisor, Then then) {
  if (!redis->client.connected()) {
    // The state before the outage may be wrong by now.
    if (!round_) found_.clear();
    whole_ = false;
    return then();
  }
  redis_ = redis;
  supervisor_ = &supervisor;
  later_.push_back(std::move(then));
  if (!timeout_.pending())
    timeout_.set(loop_.now() + timeout, [this] {
      notify(std::exchange(waiting_, {}));
      notify(std::exchange(later_, {}));
    });
  if (!round_ && !begin_.pending())
    begin_.set(std::max(loop_.now(), next_at_), [this] { begin(); });
}

void ListStateCache::begin() {
  if (later_.empty()) return;
  waiting_ = std::exchange(later_, {});
  found_.clear();
  whole_ = false;
  round_ = std::make_shared<Round>();
  round_->redis = std::exchange(redis_, nullptr);
  round_->started = loop_.now();
  for (const auto& [prefix, list] : supervisor_->lists())
    round_->lists.push_back({prefix, list->config().key_prefix(), list->config().key_suffix(),
                             list->config().breaker.runs > 0});
  request_batch(round_);
}

void ListStateCache::request_batch(const std::shared_ptr<Round>& round) {
  if (round->next == round->lists.size()) return end_round(true);
  const std::size_t end = std::min(round->lists.size(), round->next + batch);
  while (round->next < end) {
    const Round::List& list = round->lists[round->next++];
    request(round, list);
    if (list.has_breaker) request_breaker(round, list);
  }
}

/// Queries one list. An error reply (an ACL, a key of a wrong type) leaves that part unknown.
void ListStateCache::request(const std::shared_ptr<Round>& round, const Round::List& list) {
  const std::string& prefix = list.prefix;
  const store::CircularKeys keys(list.key_prefix, "lock", list.key_suffix);
  call(round, {"HLEN", keys.quarantined}, [this, prefix](const redis::Answer& answer) {
    const auto count =
        static_cast<std::uint64_t>(read_integer(answer.reply.integer(), count_range).value_or(0));
    if (!answer.ok() || count > 0)
      found_[prefix].quarantined = answer.ok() ? std::optional(count) : std::nullopt;
  });
  call(round, {"PTTL", keys.paused},
       [this, prefix, paused = keys.paused](const redis::Answer& answer) {
         const std::int64_t left = answer.reply.integer();
         if (!answer.ok() || left == -2) return;  // there is no pause
         const auto [found, is_new] = found_.try_emplace(prefix);
         if (is_new) found->second.quarantined = 0;
         Pause& pause = found->second.pause.emplace();
         if (const auto time = read_ms(left, {1, ms_range.max}))
           pause.until = loop_.clock().wall() + *time;
         request_reason(prefix, paused);
       });
}

void ListStateCache::request_breaker(const std::shared_ptr<Round>& round, const Round::List& list) {
  const std::string& prefix = list.prefix;
  const store::CircularKeys keys(list.key_prefix, "lock", list.key_suffix);
  call(round, {"HMGET", keys.breaker, "since", "probe", "failed", "reason"},
       [this, prefix](const redis::Answer& answer) {
         if (!answer.ok() || answer.reply.size() < 4) return;
         auto open = read_open_breaker(answer.reply[0].text(), answer.reply[1].text(),
                                       answer.reply[2].text(), answer.reply[3].text());
         if (!open) return;
         const auto [found, is_new] = found_.try_emplace(prefix);
         if (is_new) found->second.quarantined = 0;
         found->second.breaker = std::move(open);
       });
}

void ListStateCache::request_reason(const std::string& prefix, const std::string& paused) {
  call(round_, {"GETRANGE", paused, "0", last_byte}, [this, prefix](const redis::Answer& answer) {
    const auto found = found_.find(prefix);
    if (!answer.ok() || found == found_.end() || !found->second.pause) return;
    Pause why = parse_pause(answer.reply.text());
    why.until = found->second.pause->until;
    found->second.pause = std::move(why);
  });
}

void ListStateCache::call(const std::shared_ptr<Round>& round, const redis::Command& command,
                          OnReply on_reply) {
  ++round->missing;
  round->redis->client.call(command, [this, alive = std::weak_ptr<Round>(round),
                                      on_reply = std::move(on_reply)](const redis::Answer& answer) {
    const auto asked = alive.lock();  // expires with the cache
    if (!asked) return;
    if (answer.failure == redis::Failure::none) {
      on_reply(answer);
    } else {
      asked->failed = true;
    }
    if (--asked->missing > 0) return;
    if (asked->failed) return end_round(false);
    request_batch(asked);
  });
}

void ListStateCache::end_round(bool whole) {
  whole_ = whole;
  next_at_ = loop_.now() + pauses * (loop_.now() - round_->started);
  round_.reset();
  if (later_.empty()) {
    timeout_.cancel();
  } else {
    begin_.set(next_at_, [this] { begin(); });
  }
  notify(std::exchange(waiting_, {}));
}

void ListStateCache::notify(std::vector<Then> all) {
  for (const auto& then : all) then();
}

void ListStateCache::add_to(ListStatus& status) const {
  stats_.add_to(status);
  const MinuteCount recent = hour_.sum(status.prefix, now());
  status.recent_runs = recent.runs;
  status.recent_failed = recent.failed;
  const auto found = found_.find(status.prefix);
  if (found != found_.end()) {
    status.quarantined = found->second.quarantined;
    status.pause = found->second.pause;
    status.breaker = found->second.breaker;
  } else if (whole_) {
    status.quarantined = 0;
  }
}

}  // namespace w8y::app
