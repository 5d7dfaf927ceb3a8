// The fleet as the status API, pages and w8yctl show it. Used on the query thread of w8yd: a fleet
// may have a million list reports, and others may write them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/query_context.hpp"
#include "operator/runs.hpp"
#include "view/fleet.hpp"
#include "view/host_details.hpp"

namespace w8y::verbs {

/// Bytes of one answer of fleet_view(). It ends with the host that exceeds half of them; the lists
/// of one host have the other half.
inline constexpr std::size_t most_view_bytes = std::size_t{16} << 20;
/// Hosts of one answer, if the request has no limit.
inline constexpr std::size_t most_view_hosts = 1000;

struct FleetWish {
  bool lists = true;
  std::optional<std::string> list;  ///< of the lists, only this one
  PageRequest part{most_view_hosts, {}};
};

// All throw redis::RedisError.

/// All hosts, without their lists. Also throws Refusal if the fleet can't be read.
FleetView fleet_hosts(const QueryContext& query);
/// All hosts, each with this one list if it has it.
FleetView hosts_of_list(const QueryContext& query, const std::string& list);
/// JSON of GET /api/v1/fleet: a part of the hosts, and where the next part begins.
std::string fleet_view(const QueryContext& query, const FleetWish& wish);
/// Pages: details of the first of these hosts, as many as have about 1 MiB; at least one.
std::vector<view::HostDetails> host_details(const QueryContext& query,
                                            const std::vector<view::HostWish>& wishes);

/// Takes a list and its report, as it was written. False: no more of them.
using TakeReport = std::function<bool(const std::string& prefix, const std::string& text)>;
/// Reads the list reports of a host, in any order, a few of them twice. `host` then says what could
/// not be read. Returns how many bytes were read.
std::size_t each_report(const QueryContext& query, FleetHost& host, const TakeReport& take);

}  // namespace w8y::verbs
