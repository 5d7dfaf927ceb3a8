// Feeds and sorted feeds as they are changed: each change in one step.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "operator/feed_access.hpp"

namespace w8y::verbs {

/// Both throw redis::RedisError and FeedRefused.
class RetractingFeed : public FeedAccess {
 public:
  RetractingFeed(FeedServer at, const std::string& feed, FeedKind kind)
      : FeedAccess(at, feed, kind), kind_(kind) {}
  /// For each: it was there.
  std::vector<bool> retract(const std::vector<std::string>& ids);

 private:
  FeedKind kind_;
};

class Feed : public RetractingFeed {
 public:
  Feed(FeedServer at, const std::string& feed) : RetractingFeed(at, feed, FeedKind::feed) {}

  /// In this order; an id that is there is edited. Sends many at once.
  void publish(const std::vector<FeedItem>& items);
  /// The feed has times in seconds and in milliseconds, and a max_length: which of its items are
  /// the newest is not known. As the last publish() has seen it.
  [[nodiscard]] bool has_two_units() const { return two_units_; }

 private:
  std::size_t publish_part(const std::vector<FeedItem>& items, std::size_t first,
                           std::size_t count);

  bool two_units_ = false;
};

/// Where an item of a sorted feed is to be.
struct FeedPosition {
  enum class Where { begin, end, before, after };
  Where where = Where::end;
  std::string id;  ///< before or after which
};

class SortedFeed : public RetractingFeed {
 public:
  SortedFeed(FeedServer at, const std::string& feed)
      : RetractingFeed(at, feed, FeedKind::sorted_feed) {}

  /// Each at this position, one after the other; returns their ids.
  std::vector<std::string> insert(const FeedPosition& at, const std::vector<std::string>& items);
  /// False: there is no such id.
  bool edit(const std::string& id, const std::string& item);
  /// The same. Not before or after itself: throws FeedRefused.
  bool move(const FeedPosition& to, const std::string& id);
};

}  // namespace w8y::verbs
