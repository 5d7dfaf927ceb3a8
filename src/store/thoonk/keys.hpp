// Names of the keys and channels of feeds, sorted feeds, queues and jobs (w8y-keys(7)): those of
// Thoonk's contract, and ours beside them.
#pragma once

#include <string>
#include <string_view>

namespace w8y::store {

struct FeedKeys {
  /// The name of the feed: bytes.
  explicit FeedKeys(const std::string& name);

  /// Exists while who claimed the job is alive.
  [[nodiscard]] std::string lease(std::string_view id) const {
    return lease_prefix + std::string(id);
  }

  std::string feed;

  // The contract's.
  std::string config;
  std::string ids;
  std::string items;
  std::string publishes;
  std::string idincr;     ///< of sorted feeds
  std::string published;  ///< this and those below: of jobs
  std::string claimed;
  std::string cancelled;
  std::string stalled;
  std::string finishes;

  // Its channels.
  std::string publish_channel;
  std::string edit_channel;
  std::string retract_channel;
  std::string position_channel;
  std::string finish_channel;

  // Ours, of jobs.
  std::string lease_prefix;
  std::string taken;
  std::string nowhere;     ///< ids that maintenance has not found
  std::string maintained;  ///< who does that

  // As of other kinds of work.
  std::string fence;
  std::string failures;
  std::string slots;
  std::string paused;
  std::string runs;
  std::string events;
  std::string wake;
};

/// The names of all feeds; in a cluster, not where the keys of one are.
inline constexpr const char* feeds_key = "feeds";
// Channels of all feeds.
inline constexpr const char* newfeed_channel = "newfeed";
inline constexpr const char* delfeed_channel = "delfeed";
inline constexpr const char* conffeed_channel = "conffeed";

/// What a message has between its two parts. Only the first one separates: the second part is any
/// bytes, so an id can't have one.
inline constexpr char part_separator = '\0';

}  // namespace w8y::store
