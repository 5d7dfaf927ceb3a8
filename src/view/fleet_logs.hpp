// Output of runs for followers in the fleet: messages on a channel of Redis (w8y-keys(7)). Without
// followers, a line costs nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/events.hpp"
#include "view/fleet_commands.hpp"

namespace w8y {

/// Maximum number of bytes of a line; a longer line is truncated.
inline constexpr std::size_t max_told_line = std::size_t{4} << 10;
/// Maximum number of bytes of an update; a longer update is dropped.
inline constexpr std::size_t max_told_update = std::size_t{16} << 10;
/// Maximum number of bytes and lines that a follower receives per second. Further lines are dropped
/// and counted.
inline constexpr std::size_t max_log_bytes = std::size_t{128} << 10;
inline constexpr std::size_t max_log_lines = 1000;
/// Maximum number of followers on one host.
inline constexpr std::size_t max_log_followers = 32;
/// Time for which lines are collected before they are sent.
inline constexpr Duration log_gathering = std::chrono::milliseconds(100);

struct LogLine {
  std::string list;
  std::string run;
  std::string item;  ///< first bytes of the item
  std::string line;  ///< raw bytes
  bool cut = false;  ///< whether the line was truncated
};

/// Progress and updates of a run; only the latest progress.
struct LogProgress {
  std::string list;
  std::string run;
  std::optional<Progress> progress;
  std::string update;  ///< JSON from the executor; empty: none
};

struct LogRunEnd {
  std::string list;
  std::string run;
  std::string outcome;
  std::string reason;
};

/// Message on the channel of a follower.
struct LogMessage {
  std::string host;
  std::vector<LogLine> lines;
  std::size_t left_out = 0;  ///< number of dropped lines and updates
  std::vector<LogProgress> updates;
  std::vector<LogRunEnd> ended;
};
std::string to_text(const LogMessage& message);
/// nullopt: the text is not the output of to_text().
std::optional<LogMessage> parse_log_message(std::string_view text);

/// Followers of runs on this host.
class LogFollowers {
 public:
  enum class Followed { added, renewed, too_many };
  /// Adds or renews the follower of a command `logs` with a listener. A follower expires after
  /// log_life.
  Followed follow(const FleetCommand& order, Instant now);
  [[nodiscard]] bool none() const { return followers_.empty(); }

  void on_output(const RunLogged& said, Instant now);
  void updated(const RunUpdated& updated, Instant now);
  void progressed(const RunProgressed& progressed, Instant now);
  void ended(const RunEnded& ended, Instant now);

  struct Due {
    std::string listener;
    LogMessage message;  ///< without its host
  };
  /// Returns the messages to publish now. Removes expired followers.
  std::vector<Due> drain(Instant now);
  /// Returns the time of the next drain(); nullopt: there are no followers.
  [[nodiscard]] std::optional<Instant> due() const;

 private:
  struct Follower {
    std::string listener;
    std::string run;  ///< start of run IDs
    std::optional<std::string> list;
    Instant until{};
    LogMessage message;
    Instant gathered_since{};
    Instant second{};  ///< start of the second in which bytes and lines are counted
    std::size_t bytes = 0;
    std::size_t lines = 0;

    [[nodiscard]] bool wants(const RunRef& of) const;
    [[nodiscard]] bool has_news() const;
    /// Makes room for an entry of `size` bytes. Returns false if the limit is exceeded, and counts
    /// the entry as dropped.
    bool begin(std::size_t size, Instant now);
  };
  std::vector<Follower> followers_;
};

}  // namespace w8y
