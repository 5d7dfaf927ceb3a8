// Commands to hosts of a fleet, and their replies: messages on channels of Redis (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "view/json_fields.hpp"
#include "view/run_view.hpp"

namespace w8y {

/// Timeout for replies. The result of the command names the hosts that did not reply.
inline constexpr Duration order_timeout = std::chrono::seconds(2);
/// Maximum number of bytes of a command; longer messages are ignored.
inline constexpr std::size_t max_command = std::size_t{64} << 10;
/// Maximum number of bytes of a reply; longer messages are ignored.
inline constexpr std::size_t max_answer = std::size_t{1} << 20;
/// Maximum number of runs in a reply, and of bytes of each of their items.
inline constexpr std::size_t max_told_runs = 1000;
inline constexpr std::size_t max_told_item = 256;

/// Time after which a follower of run output expires if it is not renewed.
inline constexpr Duration log_life = std::chrono::seconds(30);
/// Interval of renewals.
inline constexpr Duration log_renewal = std::chrono::seconds(10);

enum class FleetCommandKind { quiet, resume, drain, reload, cancel, run, runs, logs };
const char* command_name(FleetCommandKind kind);

struct FleetCommand {
  std::string id;  ///< letters, digits, '-'; part of the name of a channel
  FleetCommandKind kind = FleetCommandKind::runs;
  std::string host;   ///< name or host ID; empty: all hosts
  std::string by;     ///< operator; may be empty
  WallTime until{0};  ///< by the clock of Redis; the command must not be executed after it
  std::string run;    ///< cancel: ID; runs and logs: start of IDs
  /// run: list of the item. runs and logs: only runs of this list; the reply to `runs` also has the
  /// state of the list.
  std::optional<std::string> list;
  Item item;             ///< run
  std::string listener;  ///< logs: lines go to the channel of this ID, for log_life

  [[nodiscard]] bool is_for(std::string_view name, std::string_view host_id) const {
    return host.empty() || host == name || host == host_id;
  }
  bool operator==(const FleetCommand&) const = default;
};

std::string to_text(const FleetCommand& order);
/// Error in a command, for the log.
struct InvalidFleetCommand {
  std::string why;
};
std::variant<FleetCommand, InvalidFleetCommand> parse_command(std::string_view text);

/// List on a host, with the state and the slots of the host.
struct HostList {
  ListStatus list;
  std::string host_state;  ///< state_name(HostState)
  std::size_t slots_used = 0;
  std::size_t slots_limit = 0;  ///< 0 = no limit
};

struct FleetReply {
  std::string host;
  std::string host_id;
  std::string result;  ///< "done", "accepted", "not_found", "refused", "invalid", "unavailable"
  std::string text;
  std::vector<std::string> lines;
  std::vector<view::RunView> runs;
  std::size_t omitted_runs = 0;  ///< number of runs that are not in `runs`
  std::optional<HostList> list;  ///< list that the command `runs` named
  std::string run;               ///< ID of the started run

  [[nodiscard]] bool good() const { return result == "done" || result == "accepted"; }
};

std::string to_text(const FleetReply& answer);
std::optional<FleetReply> parse_reply(std::string_view text);

/// Result of a command.
struct FleetCommandResult {
  std::string error;                ///< why the command was not sent; empty: it was sent
  bool unreachable = false;         ///< because Redis is unavailable
  bool not_found = false;           ///< no live host has that name
  std::vector<FleetReply> replies;  ///< by host
  /// Host that did not reply in time.
  struct NoReply {
    std::string host;
    std::string host_id;
    bool unresponsive = false;  ///< its heartbeats have stopped, too
    WallTime last_heartbeat{0};
  };
  std::vector<NoReply> no_reply;
  WallTime now{0};

  /// Returns whether all hosts have executed the command.
  [[nodiscard]] bool complete() const;
  /// Returns whether no live host has the run that the command names.
  [[nodiscard]] bool no_run() const;
};

/// Returns a JSON object, as in GET /api/v1/fleet/runs.
std::string to_text(const FleetCommandResult& outcome);
/// Returns the JSON of a command that changes something, with "error" if not all hosts have
/// executed it.
std::string command_text(const FleetCommandResult& outcome);
/// Reads the output of to_text().
FleetCommandResult read_outcome(const view::JsonFields& json);

}  // namespace w8y
