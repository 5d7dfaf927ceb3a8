// State of a server that is reachable but refuses all clients: its start and its end.
#pragma once

#include <functional>
#include <string>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "redis/reply.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

/// The state starts with the first such error reply. A command that is accepted does not end it,
/// since the server may accept reads all the time. It ends when there was no refusal for `calm`,
/// and a command was accepted meanwhile.
class ServerErrors {
 public:
  static constexpr Duration calm = std::chrono::seconds(3);

  struct Handler {
    std::function<void(const std::string& why)> begin;
    std::function<void()> end;
  };
  ServerErrors(loop::Loop& loop, Handler handler);

  void record(const Reply& reply);
  /// Forgets the state when the connection has ended. Calls no handler.
  void reset();
  /// Error that the server replies to all clients; empty if there is none.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  void check();

  loop::Loop& loop_;
  Handler handler_;
  std::string why_;
  Instant last_{};  ///< of a refusal
  bool accepted_ = false;
  Timer timer_;
};

}  // namespace w8y::redis
