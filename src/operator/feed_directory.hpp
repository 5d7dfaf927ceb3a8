// All feeds: which there are, how they begin and end, their config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/feed_access.hpp"
#include "operator/random_ids.hpp"

namespace w8y::verbs {

/// All throw redis::RedisError and FeedRefused.
class FeedDirectory {
 public:
  explicit FeedDirectory(FeedServer at) : at_(at), instance_(RandomIds().next()) {}

  struct Named {
    std::string feed;
    std::string kind;  ///< as its config has it; empty: it has none
  };
  /// By name.
  std::vector<Named> list();
  /// nullopt: there is no such feed.
  std::optional<Named> find(const std::string& feed);

  /// False: there is one of that name, and nothing was done.
  bool create(const std::string& feed, FeedKind kind, std::optional<std::uint64_t> max_length);
  void remove(const std::string& feed);

  using Values = std::vector<std::pair<std::string, std::string>>;
  /// By name.
  Values config(const std::string& feed);
  void set_config(const std::string& feed, const std::string& name, const std::string& value);

 private:
  FeedServer at_;
  std::string instance_;  ///< who we are in messages
};

}  // namespace w8y::verbs
