// Common parts of the operations on one feed: existence, kind and contents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/item.hpp"
#include "operator/connection.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

using store::FeedKeys;

enum class FeedKind { feed, sorted_feed, queue, job };
/// Returns the name of a kind, as in a feed's config: "sorted_feed".
std::string_view kind_name(FeedKind kind);
std::optional<FeedKind> kind_of_name(std::string_view name);

/// Exception for a feed that does not exist, is of another kind, or is damaged. The text is
/// complete, for people.
class FeedRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The feed does not exist.
class FeedMissing : public FeedRefused {
 public:
  using FeedRefused::FeedRefused;
};

/// Redis with its feeds. In a cluster, the key with the names of all feeds has another hash slot.
struct FeedServer {
  redis::SyncClient& client;
  bool is_cluster = false;
  std::string by = {};  ///< operator, as in QueryContext
};

/// In a cluster, refuses a feed that has no hash tag with 400.
FeedServer feed_server(Connection& at, const std::string& feed);

/// ID and item; both are bytes.
using FeedItem = std::pair<std::string, std::string>;

/// Access to one feed. All functions throw redis::RedisError and FeedRefused.
class FeedAccess {
 public:
  FeedAccess(FeedServer at, const std::string& feed, std::optional<FeedKind> kind)
      : at_(at), keys_(feed), kind_(kind) {}

  /// Throws unless the feed exists and is of this kind.
  void check();
  /// Passes each ID to `each`. Feeds and sorted feeds keep their order, a queue starts at the end
  /// where items enter, jobs have no order.
  using EachId = std::function<void(std::string&&)>;
  void ids(const EachId& each);
  std::optional<std::string> item(const std::string& id);
  /// Passes each item to `each`, in the order of IDs. `too_long` receives the ID and length of
  /// items that are too long to be read.
  using EachItem = std::function<void(const std::string& id, std::string&& item)>;
  void all(const EachItem& each, std::vector<std::pair<std::string, std::size_t>>& too_long);
  /// The same for the items with these IDs.
  void values(const std::vector<std::string>& ids, const EachItem& each,
              std::vector<std::pair<std::string, std::size_t>>& too_long);
  /// Returns the first bytes of the items with these IDs, and their lengths. An item that does not
  /// exist is empty.
  std::vector<DisplayItem> starts(const std::vector<std::string>& ids);

  [[nodiscard]] const FeedKeys& keys() const { return keys_; }

 protected:
  using Calls = std::vector<redis::SyncClient::ScriptCall>;

  /// Runs a script. Adds the key of all feed names after `keys`, except in a cluster.
  redis::ReplyCopy run(const redis::Script& script, redis::Command keys,
                       const redis::Command& arguments);
  std::vector<redis::ReplyCopy> run_all(const redis::Script& script, Calls&& calls);
  redis::ReplyCopy read(const redis::Command& command, const std::string& key);
  /// Throws an error of Redis, as FeedRefused if its cause is known.
  [[noreturn]] void refuse(const redis::RedisError& error) const;
  [[nodiscard]] std::string remedy() const;
  [[noreturn]] void refuse_kind(std::string_view found) const;

  [[nodiscard]] FeedKind kind() const { return kind_.value_or(FeedKind::feed); }
  [[nodiscard]] redis::SyncClient& client() const { return at_.client; }
  [[nodiscard]] bool in_cluster() const { return at_.is_cluster; }
  [[nodiscard]] const std::string& by() const { return at_.by; }

 private:
  void range(const char* range, const EachId& each);
  void fields(const EachId& each);

  FeedServer at_;
  FeedKeys keys_;
  std::optional<FeedKind> kind_;  ///< nullopt: any
};

/// Limits of the items in one script call, so that Redis is never blocked for long.
inline constexpr std::size_t items_of_part = 500;
/// Limit if each item may search the whole list of IDs.
inline constexpr std::size_t walks_of_part = 4;
inline constexpr std::size_t bytes_of_part = std::size_t{256} << 10;
inline std::size_t size_of(const std::string& id_or_item) {
  return id_or_item.size();
}
inline std::size_t size_of(const FeedItem& item) {
  return item.first.size() + item.second.size();
}
/// Calls `send` with each part of `items` that fits into one call, in order.
template <typename Item, typename Send>
void each_part(const std::vector<Item>& items, Send send, std::size_t most = items_of_part) {
  for (std::span<const Item> rest(items); !rest.empty();) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < std::min(rest.size(), most); ++count) {
      bytes += size_of(rest[count]);
      if (count > 0 && bytes > bytes_of_part) break;
    }
    send(rest.first(count));
    rest = rest.subspan(count);
  }
}

}  // namespace w8y::verbs
