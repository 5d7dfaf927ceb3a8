// Whether this server tells of changed keys (notify-keyspace-events), so that what is added to a
// list or a timeline at rest is heard of at once, whoever adds it.
//
// Its settings would say so, but who may read those may read its passwords too (CONFIG GET). So a
// key of ours is written now and then, and heard of, or not.
#pragma once

#include <string>
#include <string_view>

#include "core/timers.hpp"
#include "redis/subscriber.hpp"

namespace w8y::redis {
class Client;
}

namespace w8y::store {

class KeyspaceEvents {
 public:
  /// `pause`: between two tries. In a cluster each node tells only of its own keys, and only who is
  /// connected to it: not used.
  KeyspaceEvents(redis::Client& client, redis::Subscriber& subscriber, TimerQueue& timers,
                 const Clock& clock, int db, bool cluster,
                 Duration pause = std::chrono::seconds(10));
  ~KeyspaceEvents();
  KeyspaceEvents(const KeyspaceEvents&) = delete;
  KeyspaceEvents& operator=(const KeyspaceEvents&) = delete;

  /// From the first time it is called, it is tried out now and then: an operator may turn them on
  /// and off. `key_prefix`: of a list of ours, where we may write (w8y-security(7)). False until
  /// one was heard of.
  [[nodiscard]] bool on(std::string_view key_prefix);
  /// What that says, after the first time.
  [[nodiscard]] bool tried_out() const { return cluster_ || !probe_.empty(); }
  [[nodiscard]] bool on() const { return on_; }
  /// The channel for what is done to a key.
  [[nodiscard]] std::string channel(std::string_view key) const;
  /// Whether a message there says that items may have come to a list.
  [[nodiscard]] static bool adds(std::string_view event);
  /// The same for a sorted set: also a score that has changed.
  [[nodiscard]] static bool adds_scored(std::string_view event);

 private:
  void try_out();
  void write();

  redis::Client& client_;
  redis::Subscriber& subscriber_;
  const Clock& clock_;
  std::string channel_prefix_;
  bool cluster_;
  Duration pause_;
  bool on_ = false;
  bool heard_ = false;  ///< since it was written last
  std::string probe_;   ///< the key; empty: not tried yet
  Timer again_;
  redis::Subscription subscription_;
};

}  // namespace w8y::store
