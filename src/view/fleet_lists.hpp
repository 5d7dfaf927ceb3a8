// Lists in the whole fleet: each host reports a part, and the parts are added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "view/json_fields.hpp"

namespace w8y {

/// Returns whether a host in this state claims items of the list, or would claim items if there
/// were any.
[[nodiscard]] bool serves(ListState state);

/// List in the whole fleet. The sums do not depend on the host that computes them.
class ListTotals {
 public:
  /// Adds the list as one host reports it.
  void add(const std::string& host, const ListStatus& list);
  /// Completes the sums after the last add(). `stats`: their number of running items, if they have
  /// one, replaces the sum of the reported runs, which were reported at different times.
  void finish(const std::optional<ListStats>& stats);

  std::optional<std::string> key_prefix;  ///< on that host, for a schedule
  /// State on the host that is nearest to a run.
  ListState state = ListState::disabled;
  /// Reason of that state; starts with that host if another host has another state or reason.
  std::string why;
  std::vector<std::string> caps;  ///< capabilities on that host
  std::size_t hosts = 0;          ///< number of hosts that have the list in their config
  std::size_t serving = 0;        ///< number of these hosts that serve it
  std::size_t running = 0;        ///< number of active runs
  std::uint64_t slots = 0;        ///< of the serving hosts together, at most `fleet_concurrency`
  /// Number of quarantined items: only if this host does not have the list and Redis has replied.
  std::optional<std::uint64_t> quarantined;

 private:
  std::string host_;   ///< host of `state`
  bool equal_ = true;  ///< whether all hosts have this state and reason
  unsigned fleet_concurrency_ = 0;
};

/// Reports of all hosts of the fleet except one, whose state is known without a report.
struct FleetLists {
  std::map<std::string, ListTotals> lists;    ///< by prefix, without finish()
  std::map<std::string, std::size_t> states;  ///< number of live hosts in each state
  std::size_t omitted = 0;      ///< number of live hosts whose lists are not counted completely
  std::size_t slots_used = 0;   ///< of all live hosts
  std::size_t slots_limit = 0;  ///< of the live hosts that have a limit
  bool unlimited = false;       ///< whether a live host has no limit
  std::string error;            ///< why the fleet cannot be read; empty: it can
};

/// Sums of all hosts and lists of the fleet.
struct FleetSummary {
  std::map<std::string, std::size_t> host_states;  ///< number of live hosts in each state
  std::size_t omitted = 0;
  std::string error;
  std::size_t slots_used = 0;
  std::size_t slots_limit = 0;  ///< 0: no limit
  std::size_t lists = 0;
  std::map<std::string, std::size_t> states;  ///< number of lists in each state
  std::size_t running = 0;

  FleetSummary() = default;
  /// Sums up the hosts and their slots: `host` and all others. add() sums up the lists.
  FleetSummary(const HostStatus& host, const FleetLists& others);
  void add(const ListTotals& list);
};
/// Returns a JSON object (w8y-api(7)).
std::string to_json(const FleetSummary& summary);
FleetSummary read_fleet_summary(const view::JsonFields& json);

/// Sums of the lists of this host.
struct HereTotals {
  std::map<std::string, std::size_t> states;  ///< number of lists in each state
  std::size_t lists = 0;
  std::size_t running = 0;
  std::uint64_t leases_lost = 0;  ///< since the start
  std::size_t lost_now = 0;       ///< of active runs

  void add(const ListStatus& list);
};
/// Returns a JSON object (w8y-api(7)).
std::string to_json(const HereTotals& totals);
HereTotals read_here_totals(const view::JsonFields& json);

}  // namespace w8y
