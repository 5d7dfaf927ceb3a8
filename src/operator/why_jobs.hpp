// Facts of jobs, for why.
#pragma once

#include <string>

#include "operator/why.hpp"

namespace w8y::verbs {

/// Who has halted the schedule, if it is.
void read_halt(redis::SyncClient& client, const std::string& list, WhyList& into);
/// A job of a schedule; one on the timeline with its schedule in words.
std::optional<view::ItemView> read_scheduled_job(redis::SyncClient& client, const std::string& list,
                                                 const Item& name);
/// `queues`: those that are known.
WhyItems count_jobs(redis::SyncClient& client, const std::string& list,
                    const std::vector<std::string>& queues, WallTime now);
WhyItems count_feed_jobs(redis::SyncClient& client, const std::string& feed);

}  // namespace w8y::verbs
