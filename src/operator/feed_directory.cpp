#include "operator/feed_directory.hpp"

#include <algorithm>

#include "store/scripts.hpp"

namespace w8y::verbs {

namespace scripts = store::scripts;

namespace {

/// Feeds per query of kinds.
constexpr std::size_t at_once = 1000;
/// Claims per call, and leases that are deleted in one step with the feed (feed_delete.lua).
constexpr const char* claims_at_once = "500";
constexpr std::size_t leases_with_feed = 1000;

/// Feed of any kind.
class AnyFeed : public FeedAccess {
 public:
  AnyFeed(FeedServer at, const std::string& feed) : FeedAccess(at, feed, std::nullopt) {}
  using FeedAccess::read;
  using FeedAccess::run;
};

}  // namespace

std::vector<FeedDirectory::Named> FeedDirectory::list() {
  std::vector<Named> all;
  for (auto& name :
       AnyFeed(at_, {}).read({"SMEMBERS", store::feeds_key}, store::feeds_key).elements)
    all.push_back({std::move(name.text), {}});
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.feed < b.feed; });
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    const std::size_t end = std::min(all.size(), first + at_once);
    std::vector<std::string> keys;
    for (std::size_t i = first; i < end; ++i) keys.push_back(FeedKeys(all[i].feed).config);
    std::vector<redis::Command> asks;
    for (const auto& key : keys) asks.push_back({"HGET", key, "type"});
    std::vector<redis::ReplyCopy> told = at_.client.pipeline(asks);
    for (std::size_t i = 0; i < told.size(); ++i)
      if (!told[i].is_error()) all[first + i].kind = std::move(told[i].text);
  }
  return all;
}

std::optional<FeedDirectory::Named> FeedDirectory::find(const std::string& feed) {
  const FeedKeys keys(feed);
  std::vector<redis::ReplyCopy> told =
      at_.client.pipeline({{"SISMEMBER", store::feeds_key, feed}, {"HGET", keys.config, "type"}});
  if (redis::checked(told[0]).number == 0) return std::nullopt;
  return Named{feed, redis::checked(told[1]).text};
}

bool FeedDirectory::create(const std::string& feed, FeedKind kind,
                           std::optional<std::uint64_t> max_length) {
  const FeedKeys keys(feed);
  const std::string most = max_length ? std::to_string(*max_length) : "";
  const redis::Command arguments = {feed, kind_name(kind), most, instance_};
  if (!at_.is_cluster)
    return at_.client.run(scripts::feed_create, {keys.config, store::feeds_key}, arguments)
               .number == 1;
  // The name is added first, so that other clients that create the feed at the same time detect it.
  if (at_.client.call({"SADD", store::feeds_key, feed}).number == 0) return false;
  try {
    at_.client.run(scripts::feed_create, {keys.config}, arguments);
  } catch (const redis::RedisError& error) {
    if (error.code() != redis::ErrorCode::none) at_.client.call({"SREM", store::feeds_key, feed});
    throw;
  }
  return true;
}

namespace {

/// Returns claimed jobs, whose leases must be deleted. If they cannot be read, that is no error,
/// since each lease expires by itself.
std::vector<std::string> claimed_jobs(redis::SyncClient& client, const FeedKeys& keys) {
  std::vector<std::string> ids;
  std::string cursor = "0";
  do {
    const redis::ReplyCopy page =
        client.pipeline({{"ZSCAN", keys.claimed, cursor, "COUNT", claims_at_once}}).front();
    if (page.is_error()) return ids;
    cursor = page.elements.at(0).text;
    const auto& words = page.elements.at(1).elements;
    for (std::size_t i = 0; i < words.size(); i += 2) ids.push_back(words[i].text);
  } while (cursor != "0");
  return ids;
}

void remove_leases(redis::SyncClient& client, const FeedKeys& keys,
                   const std::vector<std::string>& ids) {
  each_part(ids, [&](std::span<const std::string> part) {
    redis::Command arguments = {keys.lease_prefix};
    arguments.insert(arguments.end(), part.begin(), part.end());
    client.run(scripts::feed_leases, {keys.claimed}, arguments);
  });
}

}  // namespace

void FeedDirectory::remove(const std::string& feed) {
  AnyFeed any(at_, feed);
  const FeedKeys& keys = any.keys();
  const std::vector<std::string> claimed = claimed_jobs(at_.client, keys);
  any.run(scripts::feed_delete,
          {keys.config, keys.ids, keys.items, keys.publishes, keys.idincr, keys.published,
           keys.claimed, keys.cancelled, keys.stalled, keys.finishes},
          {feed, instance_, keys.lease_prefix, keys.taken});
  if (at_.is_cluster) {
    // The name is removed last, so that an interrupted removal can be repeated.
    const std::string told = feed + store::part_separator + instance_;
    at_.client.call({"SREM", store::feeds_key, feed});
    at_.client.call({"PUBLISH", store::delfeed_channel, told});
  }
  if (claimed.size() > leases_with_feed) remove_leases(at_.client, keys, claimed);
}

FeedDirectory::Values FeedDirectory::config(const std::string& feed) {
  AnyFeed any(at_, feed);
  any.check();
  redis::ReplyCopy told = any.read({"HGETALL", any.keys().config}, any.keys().config);
  Values values;
  for (std::size_t i = 0; i + 1 < told.elements.size(); i += 2)
    values.emplace_back(std::move(told.elements[i].text), std::move(told.elements[i + 1].text));
  std::sort(values.begin(), values.end());
  return values;
}

void FeedDirectory::set_config(const std::string& feed, const std::string& name,
                               const std::string& value) {
  AnyFeed any(at_, feed);
  any.run(scripts::feed_config, {any.keys().config}, {feed, name, value, instance_});
}

}  // namespace w8y::verbs
