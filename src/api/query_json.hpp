// Answers of queries (src/operator) as JSON.
#pragma once

#include <optional>
#include <string>

#include "operator/fleet.hpp"
#include "operator/items.hpp"
#include "operator/ring.hpp"
#include "operator/runs.hpp"
#include "operator/schedules.hpp"

namespace w8y::api {

/// Bytes of one answer about the fleet. It ends with the host that exceeds half of them; the lists
/// of one host have the other half.
inline constexpr std::size_t max_fleet_bytes = 2 * verbs::max_host_bytes;

std::string items_json(const std::string& list, const verbs::ItemsPage& page);
std::string item_json(const std::string& list, const verbs::ItemDetail& found);
std::string schedules_json(const verbs::ListsPage<view::ScheduleView>& page);
std::string feeds_json(const verbs::ListsPage<view::FeedView>& page);
std::string schedule_json(const verbs::ScheduleDetail& found);
/// Without its last brace.
std::string ring_json(const std::string& list, const verbs::Ring& ring);

// These write what they read piece by piece.

/// Runs of verbs::list_runs(). An answer has about 8 MiB at most.
std::string runs_json(verbs::QueryContext& query, const std::optional<std::string>& list,
                      const verbs::RunFilter& filter, const verbs::PageRequest& part);
/// A part of the hosts, and where the next part begins.
std::string fleet_json(const verbs::QueryContext& query, const verbs::FleetWish& wish);

}  // namespace w8y::api
