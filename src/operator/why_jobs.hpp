// Facts about jobs, for `why`.
#pragma once

#include <string>

#include "operator/key_names.hpp"
#include "operator/why.hpp"

namespace w8y::verbs {

/// Reads who halted the schedule, if it is halted.
void read_halt(redis::SyncClient& client, const store::ScheduleKeys& keys, WhyList& into);
/// Reads a job of a schedule; on the timeline, with the description of its schedule.
std::optional<view::ItemView> read_scheduled_job(redis::SyncClient& client,
                                                 const ScheduleOfList& schedule, const Item& name);
/// Counts jobs by state. `queues`: the known queues.
WhyItems count_jobs(redis::SyncClient& client, const ScheduleOfList& schedule,
                    const std::vector<std::string>& queues, WallTime now);
WhyItems count_feed_jobs(redis::SyncClient& client, const std::string& feed);

}  // namespace w8y::verbs
