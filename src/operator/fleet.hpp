// The fleet as the status API, pages and w8yctl show it. Used on the query thread of w8yd: a fleet
// may have a million list reports, and others may write them.
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
#include "view/host_details.hpp"

namespace w8y::verbs {

/// Bytes of the list reports of one host that FleetWalk reads, and of the lists of one host in an
/// answer.
inline constexpr std::size_t max_host_bytes = std::size_t{8} << 20;
/// Hosts of one answer, if the request has no limit.
inline constexpr std::size_t max_view_hosts = 1000;

struct FleetWish {
  bool lists = true;
  std::optional<std::string> list;  ///< of the lists, only this one
  PageRequest part{max_view_hosts, {}};
};

// All throw redis::RedisError.

/// All hosts, without their lists. Also throws Refusal if the fleet can't be read.
FleetView fleet_hosts(const QueryContext& query);
/// All hosts, each with this one list if it has it.
FleetView hosts_of_list(const QueryContext& query, const std::string& list);

/// A part of the hosts, one by one with the lists that `wish` asks for, so that the lists of one
/// host are in memory at a time.
class FleetWalk {
 public:
  /// Reads the hosts. Also throws Refusal if the fleet can't be read. `query` outlives it.
  FleetWalk(const QueryContext& query, FleetWish wish);
  FleetWalk(const FleetWalk&) = delete;
  FleetWalk& operator=(const FleetWalk&) = delete;

  /// The fleet, without its hosts.
  [[nodiscard]] const FleetView& fleet() const { return fleet_; }
  /// The next host; nullopt: this part is over.
  std::optional<FleetHost> next();
  /// Where the next part begins, after the host that next() returned last; empty: there is none.
  [[nodiscard]] std::string cursor() const;

 private:
  const QueryContext& query_;
  const FleetWish wish_;
  FleetView fleet_;
  std::vector<FleetHost> all_;
  std::span<FleetHost> hosts_;  ///< of `all_`, from the first host of this part on
  std::size_t count_ = 0;       ///< of them, that next() returned
  std::size_t read_ = 0;        ///< bytes of list reports
};

/// Pages: details of the first of these hosts, as many as have about 1 MiB; at least one.
std::vector<view::HostDetails> host_details(const QueryContext& query,
                                            const std::vector<view::HostWish>& wishes);

/// Takes a list and its report, as it was written. False: no more of them.
using TakeReport = std::function<bool(const std::string& prefix, const std::string& text)>;
/// Reads the list reports of a host, in any order, a few of them twice. `host` then says what could
/// not be read. Returns how many bytes were read.
std::size_t each_report(const QueryContext& query, FleetHost& host, const TakeReport& take);

}  // namespace w8y::verbs
