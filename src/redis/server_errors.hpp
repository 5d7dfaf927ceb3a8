// A server that can be reached, but refuses everybody: when that begins, and when it is over.
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

/// It begins with the first such error reply. A command that is accepted doesn't end it, since
/// what only reads may be accepted all the while: it is over when there has been no refusal for
/// `calm`, and something was accepted meanwhile.
class ServerErrors {
 public:
  static constexpr Duration calm = std::chrono::seconds(3);

  struct Handler {
    std::function<void(const std::string& why)> begin;
    std::function<void()> end;
  };
  ServerErrors(loop::Loop& loop, Handler handler);

  void record(const Reply& reply);
  /// The connection has ended, and with it what was known. Nothing is told.
  void reset();
  /// Empty: it refuses nobody.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  void look();

  loop::Loop& loop_;
  Handler handler_;
  std::string why_;
  Instant last_{};  ///< refusal
  bool accepted_ = false;
  Timer timer_;
};

}  // namespace w8y::redis
