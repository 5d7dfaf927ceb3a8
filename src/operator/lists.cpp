#include "operator/lists.hpp"

#include <algorithm>
#include <set>

#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"
#include "operator/connection.hpp"
#include "operator/fleet.hpp"
#include "operator/key_names.hpp"
#include "operator/key_prefixes.hpp"
#include "operator/kinds.hpp"
#include "redis/hash_slots.hpp"
#include "store/rights.hpp"

namespace w8y::verbs {

namespace {

/// Hosts whose list reports are read for a suggestion, and their lists.
constexpr std::size_t max_asked_hosts = 3;
constexpr std::size_t max_names = 20'000;

/// Calls `read`, which reads the fleet. False: the fleet cannot be read, such as without
/// permission.
bool with_fleet(const std::function<bool()>& read) {
  try {
    return read();
  } catch (const QueryError& refusal) {
    if (refusal.status() == 503) throw;
    return false;
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
    return false;
  }
}

[[noreturn]] void refuse_unknown(QueryContext& query, const std::string& prefix) {
  throw QueryError(404,
                   "there is no list " + escape_text(prefix) +
                       ": it is neither in the config nor in Redis" +
                       (core::is_pattern(prefix) ? std::string("; give one list, not a pattern")
                                                 : near_list(query, prefix)));
}

}  // namespace

bool is_in_fleet(const QueryContext& query, const std::string& prefix) {
  return with_fleet([&] {
    const FleetView fleet = hosts_of_list(query, prefix);
    return std::any_of(fleet.hosts.begin(), fleet.hosts.end(),
                       [](const FleetHost& host) { return !host.lists.empty(); });
  });
}

bool has_keys(const QueryContext& query, const std::string& prefix) {
  return kind_by_keys(query, prefix) != nullptr;
}

void refuse_gearman(const std::string& prefix) {
  throw QueryError(409,
                   escape_text(prefix) +
                       " is a list of Gearman: its jobs are in gearmand, not in Redis; to count "
                       "them: gearadmin --status");
}

std::string near_list(const QueryContext& query, const std::string& name) {
  std::set<std::string> lists;
  if (query.lists != nullptr)
    query.lists->each([&](const std::string& prefix, const KindTraits&) { lists.insert(prefix); });
  std::string hint = core::near_hint(name, {lists.begin(), lists.end()});
  if (!hint.empty()) return hint;
  // Only then, because the reports of a host may have megabytes.
  lists.clear();
  with_fleet([&] {
    FleetView fleet = fleet_hosts(query);
    for (std::size_t i = 0; i < std::min(fleet.hosts.size(), max_asked_hosts); ++i)
      each_report(query, fleet.hosts[i], [&](const std::string& prefix, const std::string&) {
        lists.insert(prefix);
        return lists.size() < max_names;
      });
    return true;
  });
  return core::near_hint(name, {lists.begin(), lists.end()});
}

void check_known(QueryContext& query, const std::string& prefix) {
  refuse_key_prefix(query, prefix);
  if (query.lists != nullptr && query.lists->contains(prefix)) return;
  check_hash_tag(query, prefix);
  if (kind_by_keys(query, prefix) == nullptr && !is_in_fleet(query, prefix))
    refuse_unknown(query, prefix);
}

void connect(QueryContext& query) {
  if (query.redis.client().connected()) return;
  try {
    query.redis.call({"TIME"});
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
  }
}

std::string refused_by_redis(const redis::RedisError& error, const redis::ClientOptions& reach) {
  return store::with_remedy(error.what(), reach.url.user);
}

std::vector<std::string> lists_of(QueryContext& query, const std::optional<std::string>& name) {
  if (query.lists == nullptr) {
    constexpr const char* remedy =
        "the lists are not known: name a list, or use --config or --socket";
    if (!name) throw QueryError(400, remedy);
    if (core::is_pattern(*name) && kind_by_keys(query, *name) == nullptr)
      throw QueryError(400, escape_text(*name) + " is a pattern, and " + remedy);
    return {*name};
  }
  if (name && query.lists->contains(*name)) return {*name};
  std::vector<std::string> fitting;
  query.lists->each([&](const std::string& prefix, const KindTraits&) {
    if (!name || (core::is_pattern(*name) && core::fits(*name, prefix))) fitting.push_back(prefix);
  });
  if (!fitting.empty() || !name) return fitting;
  refuse_key_prefix(query, *name);
  if (kind_by_keys(query, *name) != nullptr) return {*name};
  if (core::is_pattern(*name))
    throw QueryError(404, "no list in the config matches " + escape_text(*name));
  if (is_in_fleet(query, *name)) return {*name};
  refuse_unknown(query, *name);
}

const KindTraits& kind_of(QueryContext& query, const std::string& prefix) {
  refuse_key_prefix(query, prefix);
  if (const KindTraits* kind = find_kind(query, prefix)) return *kind;
  refuse_unknown(query, prefix);
}

const KindTraits& kind_with_items(QueryContext& query, const std::string& prefix) {
  const KindTraits& kind = kind_of(query, prefix);
  if (!kind.in_redis) refuse_gearman(prefix);
  return kind;
}

std::vector<std::string> queues_of(const QueryContext& query, const std::string& prefix) {
  const auto list = query.lists == nullptr ? std::nullopt : query.lists->find(prefix);
  return list ? list->queues : std::vector<std::string>();
}

void check_hash_tag(const Reach& reach, const char* what, const std::string& name,
                    const char* example) {
  if (reach.url.kind != redis::Url::Kind::cluster || redis::has_hash_tag(name)) return;
  throw QueryError(400, "the " + std::string(what) + " " + escape_text(name) +
                            " has no hash tag, and in a cluster all keys of a " + what +
                            " must share a hash slot; use for example " + example);
}

void check_hash_tag(const QueryContext& query, const std::string& prefix) {
  if (query.cluster())
    check_hash_tag(query.reach, "list", key_names(query, prefix).prefix, "'{work}'");
}

void check_feed_tag(const QueryContext& query, const std::string& feed) {
  check_hash_tag(query.reach, "feed", feed, "'{work}'");
}

bool is_feed_of_config(const QueryContext& query, const std::string& feed) {
  const auto list = query.lists == nullptr ? std::nullopt : query.lists->find(feed);
  return list && list->kind == &feed_kind();
}

store::CircularKeys circular_keys(const QueryContext& query, const std::string& prefix) {
  check_hash_tag(query, prefix);
  std::string lock_key = query.lock_key;
  if (lock_key.empty() && query.lists != nullptr)
    if (const auto list = query.lists->find(prefix)) lock_key = list->lock_key;
  const KeyNames names = key_names(query, prefix);
  return store::CircularKeys(names.start(), lock_key.empty() ? "lock" : lock_key, names.suffix);
}

std::string events_channel(const QueryContext& query, const std::string& prefix) {
  return circular_keys(query, prefix).events;
}

store::CircularKeys item_keys(QueryContext& query, const std::string& prefix) {
  const KindTraits& kind = kind_or_default(query, prefix);
  if (!kind.in_redis) refuse_gearman(prefix);
  if (const auto refuse = verbs_of(kind).refuse_items; refuse != nullptr) refuse(query, prefix);
  return circular_keys(query, prefix);
}

void check_state(const std::string& list, const std::string& state,
                 std::span<const std::string_view> states, const char* option) {
  if (state.empty() || std::find(states.begin(), states.end(), state) != states.end()) return;
  std::string all;
  for (const std::string_view one : states) all += (all.empty() ? "" : ", ") + std::string(one);
  throw QueryError(400, escape_text(list) + ": no item can be " + escape_text(state) + "; " +
                            option + " may be one of " + all +
                            core::near_hint(state, {states.begin(), states.end()}));
}

}  // namespace w8y::verbs
