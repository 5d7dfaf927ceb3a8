// Orders to hosts of a fleet, and their answers: messages on channels of Redis (w8y-keys(7)).
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

/// Who has not answered then is named.
inline constexpr Duration order_timeout = std::chrono::seconds(2);
/// Bytes of an order; more is no order of ours.
inline constexpr std::size_t max_command = std::size_t{64} << 10;
/// Bytes of an answer; more is no answer of ours.
inline constexpr std::size_t max_answer = std::size_t{1} << 20;
/// Runs in an answer, and bytes of each of their items.
inline constexpr std::size_t max_told_runs = 1000;
inline constexpr std::size_t max_told_item = 256;

/// Who follows what runs write says so again before this is over.
inline constexpr Duration log_life = std::chrono::seconds(30);
/// And says so this often.
inline constexpr Duration log_renewal = std::chrono::seconds(10);

enum class FleetCommandKind { quiet, resume, drain, reload, cancel, run, runs, logs };
const char* command_name(FleetCommandKind kind);

struct FleetCommand {
  std::string id;  ///< letters, digits, '-': a part of the name of a channel
  FleetCommandKind kind = FleetCommandKind::runs;
  std::string host;   ///< a name or a host id; empty: all
  std::string by;     ///< who has given it; may be empty
  WallTime until{0};  ///< by Redis's clock: not to be done any more then
  std::string run;    ///< cancel: the id; runs, logs: what ids start with
  /// run; runs and logs: only of this list, and of `runs` how the list is, too.
  std::optional<std::string> list;
  Item item;             ///< run
  std::string listener;  ///< logs: lines go to the channel of this id, for log_life

  [[nodiscard]] bool is_for(std::string_view name, std::string_view host_id) const {
    return host.empty() || host == name || host == host_id;
  }
  bool operator==(const FleetCommand&) const = default;
};

std::string to_text(const FleetCommand& order);
/// What is wrong with it, for the log.
struct InvalidFleetCommand {
  std::string why;
};
std::variant<FleetCommand, InvalidFleetCommand> parse_command(std::string_view text);

/// A list on a host, with the state and the slots of the host.
struct HostList {
  ListStatus list;
  std::string host_state;  ///< state_name(HostState)
  std::size_t slots_used = 0;
  std::size_t slots_limit = 0;  ///< 0: none
};

struct FleetReply {
  std::string host;
  std::string host_id;
  std::string result;  ///< "done", "accepted", "not_found", "refused", "invalid", "unavailable"
  std::string text;
  std::vector<std::string> lines;
  std::vector<view::RunView> runs;
  std::size_t omitted_runs = 0;  ///< that are left out
  std::optional<HostList> list;  ///< list that the command `runs` named
  std::string run;               ///< the run that has begun

  [[nodiscard]] bool good() const { return result == "done" || result == "accepted"; }
};

std::string to_text(const FleetReply& answer);
std::optional<FleetReply> parse_reply(std::string_view text);

/// What came of an order.
struct FleetCommandResult {
  std::string error;                ///< why it could not be given; empty: it was
  bool unreachable = false;         ///< since Redis is away
  bool not_found = false;           ///< no host of that name is there
  std::vector<FleetReply> replies;  ///< by host
  /// Those who were to answer, and have not.
  struct NoReply {
    std::string host;
    std::string host_id;
    bool unresponsive = false;  ///< its beats have ceased too
    WallTime last_heartbeat{0};
  };
  std::vector<NoReply> no_reply;
  WallTime now{0};

  /// All have done it.
  [[nodiscard]] bool complete() const;
  /// No host that is there has a run that the order is about.
  [[nodiscard]] bool no_run() const;
};

/// A JSON object, as GET /api/v1/fleet/runs has it.
std::string to_text(const FleetCommandResult& outcome);
/// The same of a command that changes something: with "error" if not all hosts have done it.
std::string command_text(const FleetCommandResult& outcome);
/// Reads what to_text() wrote.
FleetCommandResult read_outcome(const view::JsonFields& json);

}  // namespace w8y
