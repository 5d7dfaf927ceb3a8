// What the jobs of a feed are doing, as its keys say (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "redis/sync.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

/// Jobs in a state (empty: in any), at most `most` of them (0: all): those that are claimed first,
/// then those that wait, the next one first. Throws redis::RedisError.
view::ItemList read_feed_jobs(redis::SyncClient& client, bool cluster, const std::string& feed,
                              const std::string& state = {}, std::size_t most = 0);

/// These, in their order; nullopt: the feed has no job of this ID. A job that is in no other place
/// is taken to wait; its place in the queue is not read.
std::vector<std::optional<view::ItemView>> read_feed_jobs_named(
    redis::SyncClient& client, const std::string& feed, const std::vector<std::string>& ids);

/// One job, with its place and its lease.
std::optional<view::ItemView> read_feed_job(redis::SyncClient& client, const std::string& feed,
                                            const std::string& id);

}  // namespace w8y::verbs
