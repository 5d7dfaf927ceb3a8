// The JSON lines of an executor's standard output (w8y-executor(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/clock.hpp"

namespace w8y {

struct Complete {
  std::string result;                ///< JSON object: all of the line but `type` (and `id`)
  std::optional<std::string> error;  ///< there was an "error" key: its text
  std::optional<Duration> cooldown;
  std::optional<Duration> backoff;      ///< schedules only
  std::optional<std::string> schedule;  ///< schedules only: "STOP" or "UNSET"
  std::string mistake;  ///< a key that was passed over, and why; the line counts all the same
};
struct Progress {
  double numerator = 0;
  double denominator = 0;
};
struct Update {
  std::string data;  ///< JSON, as given
};
struct Print {
  std::string content;
};
/// A line that is none of the above. `reason` is for the log; the run goes on.
struct BadLine {
  std::string reason;
};
using Message = std::variant<Complete, Progress, Update, Print, BadLine>;

/// Never throws: whatever a child writes is a message or a `BadLine`.
Message parse_message(std::string_view line) noexcept;

/// A line of a `stream` process, with the run it is about.
struct StreamMessage {
  std::optional<std::string> id;  ///< nullopt: none to be found, or it is no string
  Message message;
};
StreamMessage parse_stream_message(std::string_view line) noexcept;

}  // namespace w8y
