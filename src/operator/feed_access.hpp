// What commands about one feed have in common: is it there, is it of their kind, what is in it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/connection.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

using store::FeedKeys;

enum class FeedKind { feed, sorted_feed, queue, job };
/// As it stands in a feed's config: "sorted_feed".
std::string_view kind_name(FeedKind kind);
std::optional<FeedKind> kind_of_name(std::string_view name);

/// A feed that is not there, of another kind, or not in order. The text is for people, in full.
class FeedRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where feeds are. In a cluster the names of all feeds are not where one feed is.
struct FeedServer {
  redis::SyncClient& client;
  bool is_cluster = false;
};

/// In a cluster, refuses a feed that has no hash tag with 400.
FeedServer feed_server(Connection& at, const std::string& feed);

/// An id and its item; both are bytes.
using FeedItem = std::pair<std::string, std::string>;

/// All throw redis::RedisError and FeedRefused.
class FeedAccess {
 public:
  FeedAccess(FeedServer at, const std::string& feed, std::optional<FeedKind> kind)
      : at_(at), keys_(feed), kind_(kind) {}

  /// Throws unless the feed is there and of our kind.
  void check();
  /// All ids, a call for each: of a feed and a sorted feed in their order, of a queue from the end
  /// where items enter, of jobs in any.
  using EachId = std::function<void(std::string&&)>;
  void ids(const EachId& each);
  std::optional<std::string> item(const std::string& id);
  /// Ids and items in the order of the ids. `too_long` has those that are too long to be read:
  /// id and length.
  using EachItem = std::function<void(const std::string& id, std::string&& item)>;
  void all(const EachItem& each, std::vector<std::pair<std::string, std::size_t>>& too_long);

  [[nodiscard]] const FeedKeys& keys() const { return keys_; }

 protected:
  using Calls = std::vector<redis::SyncClient::ScriptCall>;

  /// With the key of all names behind `keys`, where scripts can look there.
  redis::ReplyCopy run(const redis::Script& script, redis::Command keys,
                       const redis::Command& arguments);
  std::vector<redis::ReplyCopy> run_all(const redis::Script& script, Calls&& calls);
  redis::ReplyCopy read(const redis::Command& command, const std::string& key);
  /// In words of people where we know it.
  [[noreturn]] void refuse(const redis::RedisError& error) const;
  [[noreturn]] void refuse_kind(std::string_view found) const;

  [[nodiscard]] redis::SyncClient& client() const { return at_.client; }
  [[nodiscard]] bool in_cluster() const { return at_.is_cluster; }

 private:
  void range(const char* range, const EachId& each);
  void fields(const EachId& each);

  FeedServer at_;
  FeedKeys keys_;
  std::optional<FeedKind> kind_;  ///< none: any
};

/// Parts of many items, each for one call of a script, so that Redis is never held for long.
inline constexpr std::size_t items_of_part = 500;
/// Where each may walk through the whole list of ids.
inline constexpr std::size_t walks_of_part = 4;
inline constexpr std::size_t bytes_of_part = std::size_t{256} << 10;
/// From `first`: how many of `items` are for one call.
template <typename Items, typename Size>
std::size_t part_of(const Items& items, std::size_t first, Size&& size,
                    std::size_t most = items_of_part) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; first + count < items.size() && count < most; ++count) {
    bytes += size(items[first + count]);
    if (count > 0 && bytes > bytes_of_part) break;
  }
  return count;
}

}  // namespace w8y::verbs
