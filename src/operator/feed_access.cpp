#include "operator/feed_access.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/escape.hpp"
#include "operator/query_context.hpp"
#include "operator/stored.hpp"
#include "redis/hash_slots.hpp"
#include "store/scripts.hpp"

namespace w8y::verbs {

namespace scripts = store::scripts;

namespace {

constexpr std::array kinds = {"feed", "sorted_feed", "queue", "job"};
/// Groups of `w8yctl` subcommands, in the order of FeedKind.
constexpr std::array groups = {"feed", "sorted", "queue", "job"};

/// IDs per call.
constexpr std::int64_t ids_at_once = 10'000;
/// IDs of jobs per call, and bytes of their items that the script may read with them.
constexpr const char* fields_at_once = "500";
constexpr const char* field_bytes_at_once = "131072";
/// Items per call, bytes of items per reply, and bytes of the longest item.
constexpr std::size_t values_at_once = 1000;
constexpr const char* bytes_at_once = "8388608";
constexpr const char* max_told = "100000000";

bool starts_with(const redis::RedisError& error, std::string_view word) {
  return std::string_view(error.what()).starts_with(word);
}

std::string rest_of(const redis::RedisError& error, std::string_view word) {
  return escape_text(std::string_view(error.what()).substr(word.size() + 1));
}

}  // namespace

FeedServer feed_server(Connection& at, const std::string& feed) {
  check_hash_tag(at.reach(), "feed", feed, "'{news}'");
  return {at.redis(), at.reach().url.kind == redis::Url::Kind::cluster};
}

std::string_view kind_name(FeedKind kind) {
  return kinds.at(static_cast<std::size_t>(kind));
}

std::optional<FeedKind> kind_of_name(std::string_view name) {
  const auto* found = std::find(kinds.begin(), kinds.end(), name);
  if (found == kinds.end()) return std::nullopt;
  return static_cast<FeedKind>(found - kinds.begin());
}

void FeedAccess::refuse_kind(std::string_view found) const {
  const auto kind = kind_of_name(found);
  throw FeedRefused("the feed " + escape_text(keys_.feed) + " is of kind " + escape_text(found) +
                    ", not " + std::string(kind_ ? kind_name(*kind_) : "") +
                    (kind ? "; use the subcommands of w8yctl " +
                                std::string(groups.at(static_cast<std::size_t>(*kind)))
                          : ""));
}

/// Returns the remedy for a feed that does not exist.
std::string FeedAccess::remedy() const {
  if (!kind_) return "list feeds with \"w8yctl feed list\"";
  const std::string kind =
      *kind_ == FeedKind::feed ? "" : "--kind " + std::string(kind_name(*kind_)) + " ";
  return "create it with \"w8yctl feed create " + kind + shell_argument(keys_.feed) + "\"";
}

void FeedAccess::refuse(const redis::RedisError& error) const {
  const std::string feed = escape_text(keys_.feed);
  if (starts_with(error, "NOFEED")) throw FeedMissing("there is no feed " + feed + "; " + remedy());
  if (starts_with(error, "WRONGKIND"))
    refuse_kind(std::string_view(error.what()).substr(std::string_view("WRONGKIND ").size()));
  if (starts_with(error, "BADLENGTH"))
    throw FeedRefused("the feed " + feed + " has a max_length of " + rest_of(error, "BADLENGTH") +
                      ", which is not a number; set it with: w8yctl feed config " +
                      shell_argument(keys_.feed) + " max_length N (0: no limit)");
  throw redis::RedisError(error);
}

void FeedAccess::check() {
  const std::vector<redis::ReplyCopy> told = client().call_all(
      {{"SISMEMBER", store::feeds_key, keys_.feed}, {"HGET", keys_.config, "type"}});
  if (told[0].number == 0) refuse(redis::RedisError("NOFEED", redis::ErrorCode::other));
  if (kind_ && !told[1].is_nil() && told[1].text != kind_name(*kind_)) refuse_kind(told[1].text);
}

redis::ReplyCopy FeedAccess::run(const redis::Script& script, redis::Command keys,
                                 const redis::Command& arguments) {
  if (in_cluster()) {
    check();
  } else {
    keys.emplace_back(store::feeds_key);
  }
  try {
    return client().run(script, keys, arguments);
  } catch (const redis::RedisError& error) {
    refuse(error);
  }
}

std::vector<redis::ReplyCopy> FeedAccess::run_all(const redis::Script& script, Calls&& calls) {
  if (in_cluster()) {
    check();
  } else {
    for (auto& call : calls) call.keys.emplace_back(store::feeds_key);
  }
  try {
    return client().run_all(script, calls);
  } catch (const redis::RedisError& error) {
    refuse(error);
  }
}

redis::ReplyCopy FeedAccess::read(const redis::Command& command, const std::string& key) {
  try {
    return client().call(command);
  } catch (const redis::RedisError& error) {
    throw error_at(error.what(), error.code(), key);
  }
}

std::optional<std::string> FeedAccess::item(const std::string& id) {
  check();
  redis::ReplyCopy found = read({"HGET", keys_.items, id}, keys_.items);
  if (found.is_nil()) return std::nullopt;
  return std::move(found.text);
}

void FeedAccess::ids(const EachId& each) {
  check();
  if (kind() == FeedKind::job) return fields(each);
  range(kind() == FeedKind::feed ? "ZRANGE" : "LRANGE", each);
}

/// Reads IDs in parts. Each part starts with the last ID of the previous one. If that ID has moved,
/// preceding IDs were removed, and the previous part is read again. An ID that moves meanwhile may
/// be in two parts, and is passed on once.
void FeedAccess::range(const char* range, const EachId& each) {
  std::unordered_set<std::string> seen;
  std::int64_t page = ids_at_once;
  for (std::int64_t first = 0;;) {
    const std::string from = std::to_string(first);
    const std::string to = std::to_string(first + page - 1);
    redis::ReplyCopy part;
    try {
      part = read({range, keys_.ids, from, to}, keys_.ids);
    } catch (const redis::RedisError& error) {
      if (error.code() != redis::ErrorCode::none || page <= 2 || !client().reconnect()) throw;
      page = std::max<std::int64_t>(2, page / 16);  // their IDs are long
      continue;
    }
    auto& ids = part.elements;
    if (first > 0 && (ids.empty() || !seen.contains(ids.front().text))) {
      first = std::max<std::int64_t>(0, first - page + 1);
      continue;
    }
    const auto count = static_cast<std::int64_t>(ids.size());
    const bool is_all = first == 0 && count < page;
    for (auto& id : ids)
      if (is_all || seen.insert(id.text).second) each(std::move(id.text));
    if (count < page) return;
    first += count - 1;
  }
}

/// Reads IDs of jobs, which have no order. HSCAN may return an ID twice, and returns all IDs that
/// exist throughout.
void FeedAccess::fields(const EachId& each) {
  std::unordered_set<std::string> seen;
  std::string cursor = "0";
  const auto take = [&](redis::ReplyCopy& id) {
    if (seen.insert(id.text).second) each(std::move(id.text));
  };
  bool alone = true;  // Redis returns IDs without their items, as far as known
  do {
    auto told = client().run(scripts::feed_ids, {keys_.items},
                             {cursor, fields_at_once, field_bytes_at_once, alone ? "1" : "0"});
    cursor = told.elements.at(0).text;
    alone = told.elements.at(1).text == "1";
    std::for_each(told.elements.begin() + 2, told.elements.end(), take);
  } while (cursor != "0");
}

std::vector<DisplayItem> FeedAccess::starts(const std::vector<std::string>& ids) {
  const std::string most = std::to_string(item_shown + 1);  // one byte more: it is truncated
  std::vector<DisplayItem> starts;
  while (starts.size() < ids.size()) {
    redis::Command arguments = {bytes_at_once, most};
    const std::size_t end = std::min(ids.size(), starts.size() + values_at_once);
    for (std::size_t i = starts.size(); i < end; ++i) arguments.emplace_back(ids[i]);
    const redis::ReplyCopy told = client().run(scripts::feed_starts, {keys_.items}, arguments);
    if (told.elements.size() < 2) break;
    for (std::size_t i = 0; i + 1 < told.elements.size(); i += 2)
      starts.emplace_back(told.elements[i].text, static_cast<std::size_t>(std::max<std::int64_t>(
                                                     0, told.elements[i + 1].number)));
  }
  starts.resize(ids.size());
  return starts;
}

void FeedAccess::all(const EachItem& each,
                     std::vector<std::pair<std::string, std::size_t>>& too_long) {
  std::vector<std::string> ids;
  this->ids([&ids](std::string&& id) { ids.push_back(std::move(id)); });
  values(ids, each, too_long);
}

void FeedAccess::values(const std::vector<std::string>& ids, const EachItem& each,
                        std::vector<std::pair<std::string, std::size_t>>& too_long) {
  for (std::size_t first = 0; first < ids.size();) {
    redis::Command arguments = {bytes_at_once, max_told};
    const std::size_t end = std::min(ids.size(), first + values_at_once);
    for (std::size_t i = first; i < end; ++i) arguments.emplace_back(ids[i]);
    redis::ReplyCopy told;
    try {
      told = client().run(scripts::feed_items, {keys_.items}, arguments);
    } catch (const redis::RedisError& error) {
      refuse(error);
    }
    if (told.elements.empty()) return;
    for (auto& item : told.elements) {
      const std::string& id = ids[first++];
      if (item.kind == redis::ReplyCopy::Kind::integer) {
        too_long.emplace_back(id, static_cast<std::size_t>(item.number));
      } else if (!item.is_nil()) {
        each(id, std::move(item.text));
      }
    }
  }
}

}  // namespace w8y::verbs
