// Schedules and feeds of jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/items.hpp"
#include "operator/query_context.hpp"
#include "operator/runs.hpp"
#include "operator/schedule_jobs.hpp"
#include "schedule/schedule.hpp"
#include "view/schedule_view.hpp"

namespace w8y::verbs {

/// Page of lists of one kind.
template <class View>
struct ListsPage {
  std::vector<View> lists;
  std::string next;  ///< a cursor; empty: there are no more
};

/// Returns the schedules of the config, by name.
ListsPage<view::ScheduleView> list_schedules(QueryContext& query, const PageRequest& part);
/// Returns the feeds of jobs of the config, by name.
ListsPage<view::FeedView> list_feeds(QueryContext& query, const PageRequest& part);

struct ScheduleDetail {
  view::ScheduleView schedule;
  ItemsPage jobs;  ///< with their schedules and next times
};
/// Returns one schedule and its jobs in a state; empty: all. Throws QueryError.
ScheduleDetail show_schedule(QueryContext& query, const std::string& list, const std::string& state,
                             const PageRequest& part);

/// Returns the overview of a schedule.
view::ScheduleView read_schedule(QueryContext& query, const std::string& list);
/// Returns the overview of a feed of jobs.
view::FeedView read_feed(QueryContext& query, const std::string& list);
/// Adds the jobs that match the filter, each once: claimed jobs first, then queued jobs, jobs on
/// the timeline, and the rest.
void walk_schedule(ItemsPage& page, QueryContext& query, const std::string& list,
                   const ItemFilter& filter, const PageRequest& part);
/// Returns the next times of a schedule, at most five, after the one at which the job is due.
std::vector<WallTime> times_of(const schedule::Schedule& read,
                               std::optional<store::UnixSeconds> due, store::UnixSeconds now);
/// Reads the schedules of these jobs: as stored, their description, and the next times.
void read_schedules(QueryContext& query, const std::string& list,
                    std::vector<view::ItemView>& jobs);

}  // namespace w8y::verbs
