// What runs write, to whoever follows it in the fleet: messages on a channel of Redis
// (w8y-keys(7)). While nobody follows, a line costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/events.hpp"
#include "view/fleet_commands.hpp"

namespace w8y {

/// A line is told as its first bytes.
inline constexpr std::size_t max_told_line = std::size_t{4} << 10;
/// An update as a whole, or not at all.
inline constexpr std::size_t max_told_update = std::size_t{16} << 10;
/// A follower is told no more in a second, in bytes and lines; the others are counted.
inline constexpr std::size_t max_log_bytes = std::size_t{128} << 10;
inline constexpr std::size_t max_log_lines = 1000;
/// At one host, together.
inline constexpr std::size_t max_log_followers = 32;
/// Lines are gathered for so long.
inline constexpr Duration log_gathering = std::chrono::milliseconds(100);

struct LogLine {
  std::string list;
  std::string run;
  std::string item;  ///< its beginning
  std::string line;  ///< raw bytes
  bool cut = false;  ///< it was longer
};

/// What a run tells besides lines: of its progress the newest only.
struct LogProgress {
  std::string list;
  std::string run;
  std::optional<Progress> progress;
  std::string update;  ///< JSON, as its executor gave it; empty: none
};

struct LogRunEnd {
  std::string list;
  std::string run;
  std::string outcome;
  std::string reason;
};

/// A message on the channel of a follower.
struct LogMessage {
  std::string host;
  std::vector<LogLine> lines;
  std::size_t left_out = 0;  ///< lines and updates, after these
  std::vector<LogProgress> updates;
  std::vector<LogRunEnd> ended;
};
std::string to_text(const LogMessage& message);
/// nullopt: not what to_text() writes.
std::optional<LogMessage> parse_log_message(std::string_view text);

/// Who follows what at this host.
class LogFollowers {
 public:
  enum class Followed { anew, renewed, too_many };
  /// An order `logs` with a listener. Forgotten after log_life.
  Followed follow(const FleetCommand& order, Instant now);
  [[nodiscard]] bool none() const { return followers_.empty(); }

  void said(const RunLogged& said, Instant now);
  void updated(const RunUpdated& updated, Instant now);
  void progressed(const RunProgressed& progressed, Instant now);
  void ended(const RunEnded& ended, Instant now);

  struct Due {
    std::string listener;
    LogMessage message;  ///< without its host
  };
  /// What is to be published now; and who was not renewed in time is forgotten.
  std::vector<Due> take(Instant now);
  /// When to call that again; nullopt: nobody follows.
  [[nodiscard]] std::optional<Instant> due() const;

 private:
  struct Follower {
    std::string listener;
    std::string run;  ///< what ids start with
    std::optional<std::string> list;
    Instant until{};
    LogMessage message;
    Instant gathered_since{};
    Instant second{};  ///< when the one began that is counted
    std::size_t bytes = 0;
    std::size_t lines = 0;

    [[nodiscard]] bool wants(const RunRef& of) const;
    [[nodiscard]] bool has_news() const;
    /// Something of so many bytes is to be told. False: it is too much, and counted as left out.
    bool begin(std::size_t size, Instant now);
  };
  std::vector<Follower> followers_;
};

}  // namespace w8y
