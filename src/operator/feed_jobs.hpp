// Jobs of a feed and their states, as its keys show them (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/query_context.hpp"
#include "redis/sync.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

/// Reads at most `most` jobs (0: all) in `state` (empty: any): first claimed jobs, then queued
/// jobs in the order in which they will be claimed, then the rest. Throws redis::RedisError.
view::ItemList read_feed_jobs(redis::SyncClient& client, bool cluster, const std::string& feed,
                              const std::string& state = {}, std::size_t most = 0);

/// Reads the jobs with these IDs, in the order of `ids`; nullopt: the feed has no such job. A
/// job that is not claimed and not stalled counts as queued; its position is not read.
std::vector<std::optional<view::ItemView>> read_feed_jobs_named(
    redis::SyncClient& client, const std::string& feed, const std::vector<std::string>& ids);

/// Reads one job, with its position in the queue and its lease.
std::optional<view::ItemView> read_feed_job(redis::SyncClient& client, const std::string& feed,
                                            const std::string& id);

/// Reads the payloads of these jobs: their first bytes, or all (`whole`). A payload of more than
/// 100 MB is always shortened.
void read_payloads(QueryContext& query, const std::string& feed, std::vector<view::ItemView>& jobs,
                   bool whole);

}  // namespace w8y::verbs
