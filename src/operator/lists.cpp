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
#include "redis/hash_slots.hpp"
#include "store/rights.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

struct FoundKeys {
  bool list = false;
  bool past = false;  ///< run records, a pause or quarantines
  bool schedule = false;
  bool jobs = false;

  [[nodiscard]] bool any() const { return list || past || schedule || jobs; }
};

/// Keys of the list that exist. Without permission to read a key, it counts as missing.
FoundKeys keys_in_redis(const QueryContext& query, const std::string& prefix) {
  if (query.cluster() && !redis::has_hash_tag(prefix)) return {};
  const store::CircularKeys circular(prefix.empty() ? "" : prefix + ":");
  const store::ScheduleKeys schedule(prefix);
  const store::FeedKeys feed(prefix);
  const auto told = query.redis.pipeline(
      {{"EXISTS", circular.list},
       {"EXISTS", circular.runs, circular.paused, circular.quarantined},
       {"EXISTS", schedule.schedules, schedule.statuses, schedule.timeline, schedule.taken}});
  // In a cluster they may be in another hash slot.
  const auto jobs = query.redis.pipeline(
      {{"HGET", feed.config, "type"}, {"EXISTS", feed.claimed, feed.published}});
  const auto is_there = [](const redis::ReplyCopy& reply) {
    return !reply.is_error() && reply.number > 0;
  };
  return {is_there(told[0]), is_there(told[1]), is_there(told[2]),
          jobs[0].text == "job" || is_there(jobs[1])};
}

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
  throw QueryError(404, "there is no list " + escape_text(prefix) +
                            ": it is neither in the config nor in Redis" +
                            near_list(query, prefix));
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
  return keys_in_redis(query, prefix).any();
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
    query.lists->each([&](const std::string& prefix, SourceKind) { lists.insert(prefix); });
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
  if (!keys_in_redis(query, prefix).any() && !is_in_fleet(query, prefix))
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
    if (core::is_pattern(*name) && !keys_in_redis(query, *name).any())
      throw QueryError(400, escape_text(*name) + " is a pattern, and " + remedy);
    return {*name};
  }
  if (name && query.lists->contains(*name)) return {*name};
  std::vector<std::string> fitting;
  query.lists->each([&](const std::string& prefix, SourceKind) {
    if (!name || (core::is_pattern(*name) && core::fits(*name, prefix))) fitting.push_back(prefix);
  });
  if (!fitting.empty() || !name) return fitting;
  refuse_key_prefix(query, *name);
  if (keys_in_redis(query, *name).any()) return {*name};
  if (core::is_pattern(*name))
    throw QueryError(404, "no list in the config matches " + escape_text(*name));
  if (is_in_fleet(query, *name)) return {*name};
  refuse_unknown(query, *name);
}

std::optional<SourceKind> find_kind(QueryContext& query, const std::string& prefix) {
  if (query.lists != nullptr)
    if (const auto list = query.lists->find(prefix)) return list->kind;
  const FoundKeys found = keys_in_redis(query, prefix);
  if (!found.list && found.schedule) return SourceKind::schedule;
  if (!found.list && found.jobs) return SourceKind::job;
  if (found.any()) return SourceKind::circular;
  const bool other_prefix = !key_names(query, prefix).suffix.empty();
  return other_prefix ? std::optional(SourceKind::schedule) : std::nullopt;
}

SourceKind kind_of(QueryContext& query, const std::string& prefix) {
  refuse_key_prefix(query, prefix);
  if (const auto kind = find_kind(query, prefix)) return *kind;
  refuse_unknown(query, prefix);
}

SourceKind kind_with_items(QueryContext& query, const std::string& prefix) {
  const SourceKind kind = kind_of(query, prefix);
  if (kind == SourceKind::gearman) refuse_gearman(prefix);
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
  return list && list->kind == SourceKind::job;
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
  switch (find_kind(query, prefix).value_or(SourceKind::circular)) {
    case SourceKind::schedule:
      throw QueryError(409, escape_text(prefix) +
                                " is a schedule; to set and show its jobs: w8yctl schedule -k " +
                                escape_text(key_names(query, prefix).prefix));
    case SourceKind::job:
      throw QueryError(
          409, escape_text(prefix) + " is a feed of jobs; to put and change them: w8yctl job");
    case SourceKind::gearman:
      refuse_gearman(prefix);
    case SourceKind::circular:
      break;
  }
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
