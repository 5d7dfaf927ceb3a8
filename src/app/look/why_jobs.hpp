// Facts of jobs, for why.
#pragma once

#include <string>

#include "app/look/why.hpp"

namespace w8y::app::look {

/// Of HMGET with one field; nullopt: it is not there, or can't be read.
std::optional<std::string> field_in(const redis::ReplyCopy& reply);

/// Who has halted the schedule, if it is.
void read_halt(redis::SyncClient& client, const std::string& list, WhyList& into);
WhyItem read_why_job(redis::SyncClient& client, const WhyQuestion& question);
WhyItems count_jobs(redis::SyncClient& client, const WhyQuestion& question, WallTime now);

WhyItem read_why_feed_job(redis::SyncClient& client, const WhyQuestion& question);
WhyItems count_feed_jobs(redis::SyncClient& client, const std::string& feed);

}  // namespace w8y::app::look
