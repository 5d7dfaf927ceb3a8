// Names of the keys and channels of feeds, sorted feeds, queues and jobs (w8y-keys(7)): those of
// Thoonk and those of w8y.
#pragma once

#include <string>
#include <string_view>

namespace w8y::store {

struct FeedKeys {
  /// `name`: of the feed, any bytes.
  explicit FeedKeys(const std::string& name);

  /// Returns the key that exists while the host that claimed the job renews its lease.
  [[nodiscard]] std::string lease(std::string_view id) const {
    return lease_prefix + std::string(id);
  }

  std::string feed;

  // Keys of Thoonk.
  std::string config;
  std::string ids;
  std::string items;
  std::string publishes;
  std::string idincr;     ///< of sorted feeds only
  std::string published;  ///< this and the following: of jobs only
  std::string claimed;
  std::string cancelled;
  std::string stalled;
  std::string finishes;

  // Channels of Thoonk.
  std::string publish_channel;
  std::string edit_channel;
  std::string retract_channel;
  std::string position_channel;
  std::string finish_channel;

  // Keys of w8y for jobs.
  std::string lease_prefix;
  std::string taken;
  std::string nowhere;         ///< IDs of orphaned jobs
  std::string maintained;      ///< host that does the maintenance
  std::string keep;            ///< jobs whose result is kept, and for how long
  std::string result_prefix;   ///< prefix of kept results
  std::string request_prefix;  ///< prefix of the records of requests (parts/request.lua)

  // Keys as for other kinds of work.
  std::string fence;
  std::string failures;
  std::string slots;
  std::string paused;
  std::string runs;
  std::string events;
  std::string wake;
  std::string breaker;
};

/// Set of the names of all feeds. In a cluster it may be on another node than a feed.
inline constexpr const char* feeds_key = "feeds";
// Channels of all feeds.
inline constexpr const char* newfeed_channel = "newfeed";
inline constexpr const char* delfeed_channel = "delfeed";
inline constexpr const char* conffeed_channel = "conffeed";

/// Separator between the two parts of a message. Only the first one separates: the second part is
/// any bytes, but an ID cannot have a separator.
inline constexpr char part_separator = '\0';

}  // namespace w8y::store
