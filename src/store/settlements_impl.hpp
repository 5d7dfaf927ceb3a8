// Implementation of Settlements, for the file that instantiates it.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "store/settlements.hpp"

namespace w8y::store {

namespace settling {

/// Maximum time that a settlement waits for others.
inline constexpr Duration gather_time = std::chrono::milliseconds(5);
/// Maximum bytes of events that wait: a child may produce a flood of output.
inline constexpr std::size_t most_news = std::size_t{64} << 10;
/// Approximate maximum size of a call with several settlements, so that Redis is not blocked for
/// long.
inline constexpr std::size_t most_bytes = std::size_t{256} << 10;
/// Maximum size of the record and the event of one run.
inline constexpr std::size_t most_said = std::size_t{16} << 20;
/// Maximum of bytes in flight to Redis above which no more is sent, and the interval at which that
/// is checked.
inline constexpr std::size_t most_on_its_way = std::size_t{4} << 20;
inline constexpr Duration look_for_room = std::chrono::milliseconds(5);
/// Delay after which a settlement that Redis refused is retried.
inline constexpr Duration retry_pause = std::chrono::milliseconds(500);
/// Time after which a settlement that Redis refuses because of its keys (a wrong type, an ACL) is
/// abandoned. Its lock has expired by then. There is no limit while the server is unavailable or
/// refuses all commands.
inline constexpr Duration patience = std::chrono::minutes(1);

template <class Call>
std::size_t said_in(const Call& call) {
  return call.event.size() + call.more.size();
}

}  // namespace settling

/// Keys and arguments of a script that settles many runs. They point into the calls and into this
/// object. Settlements that differ only in run and item share arguments. `Kind` has, in addition:
///   keys_of(keys, calls)       keys of the script
///   first_words(keys)          first arguments
///   same_group(a, b)           whether two settlements share arguments
///   group_words(call, keep)    arguments that they share, `keep` at most `max_texts`
///   own_words(call, group)     arguments of one settlement; `group`: its number
template <class Kind>
class SettlementWords {
 public:
  using Calls = std::vector<const typename Kind::Call*>;

  SettlementWords(const typename Kind::Keys& keys, const Calls& calls)
      : keys_(Kind::keys_of(keys, calls)), arguments_(Kind::first_words(keys)) {
    std::vector<std::size_t> group_of;
    group_of.reserve(calls.size());
    Calls groups;
    for (const auto* call : calls) {
      const auto group = std::find_if(groups.begin(), groups.end(), [call](const auto* each) {
        return Kind::same_group(*each, *call);
      });
      group_of.push_back(static_cast<std::size_t>(group - groups.begin()));
      if (group == groups.end()) groups.push_back(call);
    }
    texts_.reserve(1 + groups.size() * (1 + Kind::max_texts));
    const KeepText keep = [this](std::string text) -> std::string_view {
      return texts_.emplace_back(std::move(text));
    };
    arguments_.reserve(arguments_.size() + 2 + 16 * groups.size() + 8 * calls.size());
    arguments_.push_back(keep(std::to_string(groups.size())));
    arguments_.push_back(limits_of(calls));
    std::vector<std::string_view> names;
    for (const auto* group : groups) {
      names.push_back(keep(std::to_string(names.size() + 1)));
      add(Kind::group_words(*group, keep));
    }
    for (std::size_t i = 0; i < calls.size(); ++i)
      add(Kind::own_words(*calls[i], names[group_of[i]]));
  }
  SettlementWords(const SettlementWords&) = delete;
  SettlementWords& operator=(const SettlementWords&) = delete;

  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  template <class Words>
  void add(const Words& words) {
    arguments_.insert(arguments_.end(), words.begin(), words.end());
  }
  /// Returns the limits of the breaker. A claim that is handed back has none.
  static std::string_view limits_of(const Calls& calls) {
    for (const auto* call : calls)
      if (!call->breaker_limits.empty()) return call->breaker_limits;
    return {};
  }

  redis::Command keys_;
  redis::Command arguments_;
  std::vector<std::string> texts_;  ///< reserved, because the arguments point to them
};

/// Reads the reply {done, error of another key, number of items quarantined or jobs stalled}.
template <class Call>
SettleResult read_settled(const redis::Answer& answer, const Call& call) {
  SettleResult result{trouble_of(answer)};
  if (result.trouble) return result;
  // A settlement that the breaker could change is sent alone.
  if (call.on_quarantined && answer.reply[2].integer() > 0) call.on_quarantined();
  if (const auto refused = answer.reply[1].text(); !refused.empty())
    result.trouble = refused_beside(refused, answer.reply[0].integer() > 0);
  return result;
}

template <class Kind>
Settlements<Kind>::Settlements(RedisSession& session, Handler handler)
    : session_(session),
      handler_(std::move(handler)),
      last_end_(session.clock.now() - settling::gather_time),
      gather_(session.timers),
      retry_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

template <class Kind>
Settlements<Kind>::~Settlements() {
  if (gather_.pending()) send();
  *alive_ = false;
}

template <class Kind>
void Settlements<Kind>::add(std::shared_ptr<const Keys> keys, Call&& call, const Times& times,
                            ItemRoom::Hold&& hold, Wait wait) {
  const Instant now = session_.clock.now();
  fit(call);
  const bool alone = Kind::goes_alone(call);
  unsettled_.push_back({std::move(keys), std::move(call), times, std::move(hold), alone, now});
  gathered_.push_back(std::prev(unsettled_.end()));
  // A full batch does not wait: Redis executes it while this host processes the runs that follow.
  const bool full = gathered_.size() >= Kind::most_settled;
  gather(wait == Wait::span && (full || !in_quick_succession()) ? Wait::turn : wait);
  last_end_ = now;
}

/// Drops the record and the event of a run if they are too large. The lock of the item matters
/// more.
template <class Kind>
void Settlements<Kind>::fit(Call& call) const {
  const std::size_t said = settling::said_in(call);
  if (said <= settling::most_said) return;
  call.event.clear();
  call.more.clear();
  call.kept.clear();
  call.history = HistoryLimits::none();
  handler_.given_up(call.run, "its run record and event have " + std::to_string(said >> 20) +
                                  " MiB, more than the limit of " +
                                  std::to_string(settling::most_said >> 20) +
                                  " MiB, and are not written");
}

template <class Kind>
void Settlements<Kind>::publish(std::shared_ptr<const Keys> keys, std::string&& message) {
  if (!in_quick_succession() && news_.empty()) {
    session_.client.call({"PUBLISH", keys->events, message});
    return;
  }
  news_bytes_ += message.size();
  news_.push_back({std::move(keys), std::move(message)});
  gather(news_bytes_ > settling::most_news ? Wait::none : Wait::span);
}

/// Returns whether another settlement is likely within the next few ms, since the last one was
/// recent.
template <class Kind>
bool Settlements<Kind>::in_quick_succession() const {
  return session_.clock.now() - last_end_ < settling::gather_time;
}

template <class Kind>
void Settlements<Kind>::gather(Wait wait) {
  if (wait == Wait::none) return send();
  const Instant now = session_.clock.now();
  const Instant at = wait == Wait::turn ? now : now + settling::gather_time;
  if (!gather_.pending() || at < *gather_.deadline()) gather_.set(at, [this] { send(); });
}

template <class Kind>
void Settlements<Kind>::send() {
  gather_.cancel();
  news_bytes_ = 0;
  redis::Command publish{"PUBLISH", {}, {}};
  for (const News& each : std::exchange(news_, {})) {
    publish[1] = each.keys->events;
    publish[2] = each.message;
    session_.client.call(publish);
  }
  send_settlements();
}

template <class Kind>
void Settlements<Kind>::send_settlements() {
  Some batch;
  std::size_t bytes = 0;
  for (const auto next : std::exchange(gathered_, {})) {
    const std::size_t more = Kind::bytes_of(next->call) + settling::said_in(next->call);
    if (!batch.empty()) {
      const Unsettled& first = *batch.front();
      const bool together = !first.alone && !next->alone && first.keys == next->keys &&
                            batch.size() < Kind::most_settled &&
                            bytes + more <= settling::most_bytes;
      if (!together) {
        send_or_wait(std::exchange(batch, {}), bytes);
        bytes = 0;
      }
    }
    batch.push_back(next);
    bytes += more;
  }
  if (!batch.empty()) send_or_wait(std::move(batch), bytes);
}

template <class Kind>
void Settlements<Kind>::send_or_wait(Some&& runs, std::size_t bytes) {
  const bool large = bytes >= RedisSession::large;
  const bool turn = !large || (large_asked_ == 0 && session_.may_call_large());
  if (turn && session_.client.unsent() < settling::most_on_its_way)
    return send_batch(std::move(runs), large);
  gathered_.insert(gathered_.end(), runs.begin(), runs.end());
  if (!gather_.pending())
    gather_.set(session_.clock.now() + settling::look_for_room, [this] { send(); });
}

template <class Kind>
void Settlements<Kind>::send_batch(Some&& runs, bool large) {
  std::vector<const Call*> calls;
  calls.reserve(runs.size());
  const Instant now = session_.clock.now();
  for (const auto run : runs) {
    if constexpr (requires { run->call.stale; }) run->call.stale = now > run->times.lease_ends;
    calls.push_back(&run->call);
  }
  const typename Kind::Words words(*runs.front()->keys, calls);
  if (large) ++large_asked_;
  session_.client.run(Kind::script(), words.keys(), words.arguments(),
                      [this, alive = alive_, runs = std::move(runs), large,
                       made = session_.large_call()](const redis::Answer& answer) {
                        if (!*alive) return;
                        if (large && --large_asked_ == 0) session_.large_answered(made);
                        const SettleResult result =
                            Kind::read(session_, answer, runs.front()->call);
                        if (result.again) {
                          gathered_.insert(gathered_.end(), runs.begin(), runs.end());
                          return send();
                        }
                        for (const auto run : runs) {
                          answered(run, result.trouble ? &*result.trouble : nullptr);
                          if (!*alive) return;
                        }
                      });
}

template <class Kind>
void Settlements<Kind>::answered(typename All::iterator run, const StoreError* trouble) {
  const Instant now = session_.clock.now();
  const bool about_keys = trouble != nullptr && trouble->about_keys();
  if (trouble == nullptr || trouble->settled) {
    note_unwritten(run->call, trouble);
    return over(run);
  }
  if (trouble->never || (about_keys && now - run->since > settling::patience)) {
    handler_.given_up(run->call.run, trouble->why);
    return over(run);
  }
  run->call.again = run->call.again || trouble->maybe_done;
  refused_.push_back(run);
  // Another settlement in the same call may have caused the error, so the first retry, without
  // others, is made at once. Later ones are made after a delay, also without a connection: in a
  // cluster, the node of another key may be unavailable.
  const bool with_others = about_keys && !std::exchange(run->alone, true);
  retry_at(with_others ? now : now + settling::retry_pause);
}

/// Reports write errors, and their end. A claim that is handed back writes no record, so its
/// success does not end a write error.
template <class Kind>
void Settlements<Kind>::note_unwritten(const Call& call, const StoreError* trouble) {
  if (trouble == nullptr && (unwritten_.empty() || call.event.empty())) return;
  unwritten_ = trouble == nullptr ? std::string() : trouble->why;
  handler_.unwritten(unwritten_);
}

template <class Kind>
void Settlements<Kind>::over(typename All::iterator run) {
  unsettled_.erase(run);
  if (unsettled_.empty()) handler_.none_left();
}

template <class Kind>
void Settlements<Kind>::retry_at(Instant at) {
  if (!retry_.pending() || at < *retry_.deadline()) retry_.set(at, [this] { retry(); });
}

/// Abandons settlements of a replaced session whose locks have expired, since no new runs use this
/// server.
template <class Kind>
void Settlements<Kind>::give_up_overdue() {
  if (!session_.retired()) return;
  const Instant now = session_.clock.now();
  std::map<std::string, std::size_t> given_up;
  std::erase_if(refused_, [&](const auto run) {
    if (run->times.forget_at > now) return false;
    ++given_up[Kind::list_of(*run->keys)];
    unsettled_.erase(run);
    return true;
  });
  for (const auto& [list, runs] : given_up) session_.give_up(list, runs);
}

template <class Kind>
void Settlements<Kind>::retry() {
  retry_.cancel();
  const bool any = !unsettled_.empty();
  give_up_overdue();
  if (any && unsettled_.empty()) return handler_.none_left();
  gathered_.insert(gathered_.begin(), refused_.begin(), refused_.end());
  refused_.clear();
  send();
}

}  // namespace w8y::store
