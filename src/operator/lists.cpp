#include "operator/lists.hpp"

#include <algorithm>

#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "redis/hash_slots.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

struct FoundKeys {
  bool list = false;
  bool past = false;  ///< of any kind: runs, or a pause
  bool schedule = false;
  bool jobs = false;
};

/// Who may not look at these keys has nothing there.
FoundKeys keys_in_redis(QueryContext& query, const std::string& prefix) {
  if (query.cluster() && !redis::has_hash_tag(prefix)) return {};
  const store::CircularKeys circular(prefix.empty() ? "" : prefix + ":");
  const store::ScheduleKeys schedule(prefix);
  const store::FeedKeys feed(prefix);
  const auto told = query.redis.pipeline(
      {{"EXISTS", circular.list},
       {"EXISTS", circular.runs, circular.paused},
       {"EXISTS", schedule.schedules, schedule.statuses, schedule.timeline, schedule.taken}});
  // In a cluster they may be of another slot.
  const auto jobs = query.redis.pipeline(
      {{"HGET", feed.config, "type"}, {"EXISTS", feed.claimed, feed.published}});
  const auto is_there = [](const redis::ReplyCopy& reply) {
    return !reply.is_error() && reply.number > 0;
  };
  return {is_there(told[0]), is_there(told[1]), is_there(told[2]),
          jobs[0].text == "job" || is_there(jobs[1])};
}

[[noreturn]] void refuse_unknown(const std::string& prefix) {
  throw Refusal(404, "there is no list " + escape_text(prefix) +
                         ": it is neither in the config nor in Redis");
}

}  // namespace

const Rule* rule_of(const QueryContext& query, const std::string& prefix) {
  const auto found = query.config.lists.find(prefix);
  return found == query.config.lists.end() ? nullptr : found->second.get();
}

std::vector<std::string> lists_of(QueryContext& query, const std::string& name) {
  std::vector<std::string> fitting;
  if (rule_of(query, name) != nullptr) return {name};
  for (const auto& [prefix, rule] : query.config.lists)
    if (name.empty() || (core::is_pattern(name) && core::fits(name, prefix)))
      fitting.push_back(prefix);
  if (!fitting.empty() || name.empty()) return fitting;
  const FoundKeys found = keys_in_redis(query, name);
  if (found.list || found.past || found.schedule || found.jobs) return {name};
  if (core::is_pattern(name)) throw Refusal(404, "no list of the config fits " + escape_text(name));
  refuse_unknown(name);
}

SourceKind kind_of(QueryContext& query, const std::string& prefix) {
  if (const Rule* rule = rule_of(query, prefix)) return rule->kind();
  const FoundKeys found = keys_in_redis(query, prefix);
  if (!found.list && found.schedule) return SourceKind::schedule;
  if (!found.list && found.jobs) return SourceKind::job;
  if (!found.list && !found.past) refuse_unknown(prefix);
  return SourceKind::circular;
}

store::CircularKeys circular_keys(const QueryContext& query, const std::string& prefix) {
  if (const Rule* rule = rule_of(query, prefix);
      rule != nullptr && rule->kind() == SourceKind::circular)
    return store::CircularKeys(*rule);
  return store::CircularKeys(prefix.empty() ? "" : prefix + ":");
}

void check_state(const std::string& list, const std::string& state,
                 std::span<const std::string_view> states) {
  if (state.empty() || std::find(states.begin(), states.end(), state) != states.end()) return;
  std::string all;
  for (const std::string_view one : states) all += (all.empty() ? "" : ", ") + std::string(one);
  throw Refusal(400, escape_text(list) + ": no item of it is ever " + escape_text(state) +
                         "; ?state= may be one of " + all);
}

}  // namespace w8y::verbs
