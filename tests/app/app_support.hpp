// Log that keeps its lines, and a clock that tests move.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/log.hpp"
#include "ops/log_format.hpp"
#include "unit/fakes.hpp"

namespace w8y::test {

using Lines = std::vector<std::string>;

class FakeLog final : public ops::LineLog {
 public:
  LogLevel level = LogLevel::info;
  Lines lines;

  [[nodiscard]] bool enabled(LogLevel of) const override { return of >= level; }
  /// Returns the lines logged since the last call.
  Lines drain() { return std::exchange(lines, {}); }
  [[nodiscard]] std::size_t count(std::string_view words) const {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(),
        [words](const std::string& line) { return line.find(words) != std::string::npos; }));
  }

 protected:
  void put(LogLevel of, std::string_view message, ops::LogFields fields) override {
    static constexpr const char* names[] = {"trace", "debug", "info", "warn", "error"};
    lines.push_back(std::string(names[static_cast<int>(of)]) + ' ' +
                    ops::render_line(LogFormat::text, message, fields));
  }
};

/// Clock and timers that the test moves.
struct Time {
  FakeClock clock;
  TimerQueue timers;

  void pass(Duration time) {
    const Instant end = clock.now() + time;
    while (true) {
      while (timers.run_due(clock.now()) > 0) {
      }
      const auto next = timers.next();
      if (!next || *next > end) break;
      clock.set(std::max(*next, clock.now()));
    }
    clock.set(end);
  }
  /// Runs one loop iteration: all timers that are due now.
  void turn() { pass(Duration{0}); }
};

}  // namespace w8y::test

template <>
struct doctest::StringMaker<w8y::test::Lines> {
  static String convert(const w8y::test::Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += "\n  " + line;
    return text.c_str();
  }
};
