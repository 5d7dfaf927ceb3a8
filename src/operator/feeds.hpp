// Changes of feeds and sorted feeds. Each change is one step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "operator/feed_access.hpp"

namespace w8y::verbs {

/// Feed with a retract operation. It throws redis::RedisError and FeedRefused.
class RetractingFeed : public FeedAccess {
 public:
  RetractingFeed(FeedServer at, const std::string& feed, FeedKind kind)
      : FeedAccess(at, feed, kind) {}
  /// Retracts items. Returns for each ID whether the item existed.
  std::vector<bool> retract(const std::vector<std::string>& ids);
};

class Feed : public RetractingFeed {
 public:
  Feed(FeedServer at, const std::string& feed) : RetractingFeed(at, feed, FeedKind::feed) {}

  /// Publishes items in this order, many per call. An existing ID is edited.
  void publish(const std::vector<FeedItem>& items);
  /// Returns whether the feed has a max_length, and the last publish() found times both in seconds
  /// and in milliseconds. The order of the items by time is then not known.
  [[nodiscard]] bool has_two_units() const { return two_units_; }

 private:
  /// Returns how many of the items were published.
  std::size_t publish_part(std::span<const FeedItem> items);

  bool two_units_ = false;
};

/// Position of an item in a sorted feed.
struct FeedPosition {
  enum class Where { begin, end, before, after };
  Where where = Where::end;
  std::string id;  ///< for `before` and `after`
};

class SortedFeed : public RetractingFeed {
 public:
  SortedFeed(FeedServer at, const std::string& feed)
      : RetractingFeed(at, feed, FeedKind::sorted_feed) {}

  /// Inserts items at this position, one after the other, and returns their IDs.
  std::vector<std::string> insert(const FeedPosition& at, const std::vector<std::string>& items);
  /// Replaces an item. False: the ID does not exist.
  bool edit(const std::string& id, const std::string& item);
  /// Moves an item. False: the ID does not exist. Throws FeedRefused for a move before or after
  /// itself.
  bool move(const FeedPosition& to, const std::string& id);
};

}  // namespace w8y::verbs
