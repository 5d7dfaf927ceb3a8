// Results of queries (src/operator) as JSON.
#pragma once

#include <optional>
#include <string>

#include "operator/error_groups.hpp"
#include "operator/fleet.hpp"
#include "operator/items.hpp"
#include "operator/ring.hpp"
#include "operator/runs.hpp"
#include "operator/schedules.hpp"

namespace w8y::api {

/// Maximum size of one response about the fleet, in bytes. The response ends with the host that
/// exceeds half of it; the lists of that host may use the other half.
inline constexpr std::size_t max_fleet_bytes = 2 * verbs::max_host_bytes;

std::string items_json(const std::string& list, const verbs::ItemsPage& page);
std::string item_json(const std::string& list, const verbs::ItemDetail& found);
std::string schedules_json(const verbs::ListsPage<view::ScheduleView>& page);
std::string feeds_json(const verbs::ListsPage<view::FeedView>& page);
std::string schedule_json(const verbs::ScheduleDetail& found);
/// Returns the JSON without its last brace.
std::string ring_json(const std::string& list, const verbs::Ring& ring);

// These functions encode data while they read it.

/// Returns the runs of verbs::list_runs(), about 8 MiB at most.
std::string runs_json(verbs::QueryContext& query, const std::optional<std::string>& list,
                      const verbs::RunFilter& filter, const verbs::PageRequest& part);
/// Returns one page of the hosts, and the cursor of the next page.
std::string fleet_json(const verbs::QueryContext& query, const verbs::FleetWish& wish);

}  // namespace w8y::api
