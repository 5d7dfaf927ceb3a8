// All feeds: their names, creation, removal and config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/feed_access.hpp"
#include "operator/random_ids.hpp"

namespace w8y::verbs {

/// Directory of the feeds in one Redis. All functions throw redis::RedisError and FeedRefused.
class FeedDirectory {
 public:
  explicit FeedDirectory(FeedServer at) : at_(at), instance_(RandomIds().next()) {}

  struct Named {
    std::string feed;
    std::string kind;  ///< from its config; empty: none
  };
  /// Returns all feeds, by name.
  std::vector<Named> list();
  /// Returns a feed; nullopt: it does not exist.
  std::optional<Named> find(const std::string& feed);

  /// Creates a feed. False: a feed of that name exists, and is left unchanged.
  bool create(const std::string& feed, FeedKind kind, std::optional<std::uint64_t> max_length);
  void remove(const std::string& feed);

  using Values = std::vector<std::pair<std::string, std::string>>;
  /// Returns the config values of a feed, by name.
  Values config(const std::string& feed);
  void set_config(const std::string& feed, const std::string& name, const std::string& value);

 private:
  FeedServer at_;
  std::string instance_;  ///< ID of this client in messages
};

}  // namespace w8y::verbs
