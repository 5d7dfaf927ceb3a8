// Fleet for the status API, the page and w8yctl. Used on the query thread of w8yd: a fleet may have
// a million list reports, and other clients may write them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/query_context.hpp"
#include "operator/runs.hpp"
#include "view/fleet.hpp"
#include "view/fleet_lists.hpp"
#include "view/host_details.hpp"
#include "view/problems.hpp"

namespace w8y::verbs {

/// Bytes of the list reports of one host that FleetWalk reads, and of the lists of one host in a
/// response.
inline constexpr std::size_t max_host_bytes = std::size_t{8} << 20;
/// Hosts in one response, if the request has no limit.
inline constexpr std::size_t max_view_hosts = 1000;

struct FleetWish {
  bool lists = true;
  std::optional<std::string> list;  ///< only this list
  std::optional<std::string> host;  ///< only hosts of this name
  PageRequest part{max_view_hosts, {}};
};

// All functions throw redis::RedisError.

/// Returns all hosts, without their lists. Also throws QueryError if the fleet cannot be read.
FleetView fleet_hosts(const QueryContext& query);
/// Returns all hosts, each with this list if its config has it.
FleetView hosts_of_list(const QueryContext& query, const std::string& list);

/// Returns the lists of all live hosts except `own`, a host ID: all lists, or one. Reads the list
/// reports of these hosts, up to a limit in bytes.
FleetLists fleet_lists(const QueryContext& query, const std::string& own,
                       const std::optional<std::string>& list);
/// Returns the problems of the fleet. Reads the list reports of all hosts, up to a limit in bytes.
std::vector<Problem> fleet_problems(const QueryContext& query);
/// Removes a host that has died. Throws QueryError if no host has this name, or one is live.
void forget_host(const QueryContext& query, const std::string& name);

/// Reads a page of hosts one by one, with the lists that `wish` selects. Only the lists of one host
/// are in memory at a time.
class FleetWalk {
 public:
  /// Reads the hosts. Also throws QueryError if the fleet cannot be read. `query` outlives this
  /// object.
  FleetWalk(const QueryContext& query, FleetWish wish);
  FleetWalk(const FleetWalk&) = delete;
  FleetWalk& operator=(const FleetWalk&) = delete;

  /// Returns the fleet, without its hosts.
  [[nodiscard]] const FleetView& fleet() const { return fleet_; }
  /// Returns the next host; nullopt: the page has ended.
  std::optional<FleetHost> next();
  /// Returns the cursor of the next page, after the last host that next() returned; empty: no more
  /// hosts.
  [[nodiscard]] std::string cursor() const;

 private:
  const QueryContext& query_;
  const FleetWish wish_;
  FleetView fleet_;
  std::vector<FleetHost> all_;
  std::span<FleetHost> hosts_;  ///< of `all_`, from the first host of this page on
  std::size_t count_ = 0;       ///< hosts that next() returned
  std::size_t read_ = 0;        ///< bytes of list reports
};

/// Returns details of the first of these hosts for the page: at most about 1 MiB, at least one
/// host.
std::vector<view::HostDetails> host_details(const QueryContext& query,
                                            const std::vector<view::HostWish>& wishes);

/// Receives a list and its report, as stored. Returns false to stop.
using TakeReport = std::function<bool(const std::string& prefix, const std::string& text)>;
/// Reads the list reports of a host in any order, some possibly twice. Errors are stored in `host`.
/// Returns the bytes that were read.
std::size_t each_report(const QueryContext& query, FleetHost& host, const TakeReport& take);

}  // namespace w8y::verbs
