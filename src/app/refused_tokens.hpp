// Log lines about requests over TCP whose token is refused.
#pragma once

#include <cstddef>
#include <string>

#include "core/timers.hpp"
#include "http/http.hpp"
#include "ops/log.hpp"

namespace w8y::app {

/// Logs at most one line per minute: the first refusal at once, and the refusals of the following
/// minute together, with their number. A line shows the client and the path of the last of its
/// refusals, never a token.
class RefusedTokens {
 public:
  static constexpr Duration interval = std::chrono::minutes(1);

  RefusedTokens(ops::LineLog& log, const Clock& clock, TimerQueue& timers)
      : log_(log), clock_(clock), timer_(timers) {}

  void add(const http::HttpRequest& request);
  /// Logs the refusals that wait for the end of the minute.
  void flush();

 private:
  ops::LineLog& log_;
  const Clock& clock_;
  Timer timer_;  ///< pending: no line is written before its deadline
  std::size_t refusals_ = 0;
  std::string client_;
  std::string request_;
};

}  // namespace w8y::app
