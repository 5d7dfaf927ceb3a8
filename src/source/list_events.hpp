// Whether this server tells of changed keys (notify-keyspace-events), so that what is added to a
// list at rest is heard of at once, whoever adds it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <w8y/timers.hpp>

namespace w8y::redis {
class Client;
}

namespace w8y::source {

class ListEvents {
 public:
  /// In a cluster each node tells only of its own keys, and only who is connected to it: not used.
  ListEvents(redis::Client& client, TimerQueue& timers, const Clock& clock, int db, bool cluster);
  ~ListEvents();
  ListEvents(const ListEvents&) = delete;
  ListEvents& operator=(const ListEvents&) = delete;

  /// From the first time it is called, the server is asked now and then: an operator may turn them
  /// on and off. False until it has answered, and where it keeps its settings to itself.
  [[nodiscard]] bool on();
  /// The channel for what is done to a key.
  [[nodiscard]] std::string channel(std::string_view key) const;
  /// Whether a message there says that items may have come.
  [[nodiscard]] static bool adds(std::string_view event);

 private:
  void ask();

  redis::Client& client_;
  const Clock& clock_;
  std::string channel_prefix_;
  bool cluster_;
  bool on_ = false;
  Timer again_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::source
