// The JSON lines of an executor's standard output (w8y-executor(7)).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/clock.hpp"

namespace w8y {

struct Complete {
  std::string result;                ///< JSON object: the whole line except `type` (and `id`)
  std::optional<std::string> error;  ///< text of the "error" key; nullopt = no such key
  std::optional<Duration> cooldown;
  std::optional<Duration> backoff;      ///< schedules only
  std::optional<std::string> schedule;  ///< schedules only: "STOP" or "UNSET"
  std::string mistake;   ///< why a key was ignored; the message is valid nevertheless
  bool is_text = false;  ///< `result` is the output of a command: text, not JSON
};
struct Progress {
  double numerator = 0;
  double denominator = 0;
};
struct Update {
  std::string data;  ///< JSON, as received
};
struct Print {
  std::string content;
};
/// A line that is not a valid message. `reason` is for the log; the run continues.
struct BadLine {
  std::string reason;
};
using Message = std::variant<Complete, Progress, Update, Print, BadLine>;

/// Parses a line. Never throws: every line is a message or a `BadLine`.
Message parse_message(std::string_view line) noexcept;

/// A line of a `stream` process and its run.
struct StreamMessage {
  std::optional<std::string> id;  ///< nullopt = missing, or not a string
  Message message;
};
StreamMessage parse_stream_message(std::string_view line) noexcept;

}  // namespace w8y
