// Detects whether the server sends keyspace notifications (notify-keyspace-events). With these, an
// item that any client adds to an idle list or timeline is noticed at once.
//
// CONFIG GET would report the setting, but an ACL that allows it also reveals passwords. Therefore
// a probe key is written periodically, and its notification either arrives or not.
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
  /// `pause`: interval of the probe. Keyspace notifications are not used in a cluster, because each
  /// node sends only those of its own keys, and only to its own clients.
  KeyspaceEvents(redis::Client& client, redis::Subscriber& subscriber, TimerQueue& timers,
                 const Clock& clock, int db, bool cluster,
                 Duration pause = std::chrono::seconds(10));
  ~KeyspaceEvents();
  KeyspaceEvents(const KeyspaceEvents&) = delete;
  KeyspaceEvents& operator=(const KeyspaceEvents&) = delete;

  /// Returns whether keyspace notifications arrive. The first call starts the probe, which repeats
  /// because an operator may change the setting at any time. `key_prefix`: of a list that this host
  /// may write to (w8y-security(7)). False until a notification has arrived.
  [[nodiscard]] bool on(std::string_view key_prefix);
  /// Returns whether on() is known: the probe has been started, or there is none in a cluster.
  [[nodiscard]] bool tried_out() const { return cluster_ || !probe_.empty(); }
  [[nodiscard]] bool on() const { return on_; }
  /// Returns the channel of the keyspace notifications of a key.
  [[nodiscard]] std::string channel(std::string_view key) const;
  /// Returns whether a keyspace notification means that items may have been added to a list.
  [[nodiscard]] static bool adds(std::string_view event);
  /// Returns the same for a sorted set, where a changed score counts as well.
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
  bool heard_ = false;  ///< whether the last write of the probe has been notified
  std::string probe_;   ///< name of the probe key; empty until the first call of on()
  Timer again_;
  redis::Subscription subscription_;
};

}  // namespace w8y::store
