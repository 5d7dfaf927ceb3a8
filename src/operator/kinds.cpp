#include "operator/kinds.hpp"

#include <iterator>

#include "core/escape.hpp"
#include "operator/key_names.hpp"
#include "operator/lists.hpp"
#include "redis/hash_slots.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

constexpr KindVerbs gearman_verbs{};

/// In the order of SourceKind.
constexpr const KindVerbs* kind_verbs[] = {&circular_verbs, &schedule_verbs, &feed_verbs,
                                           &gearman_verbs};
static_assert(std::size(kind_verbs) == source_kind_count);

}  // namespace

const KindVerbs& verbs_of(const KindTraits& kind) {
  return *kind_verbs[kind.index()];
}

const KindTraits& schedule_kind() {
  return traits_of(SourceKind::schedule);
}

const KindTraits& feed_kind() {
  return traits_of(SourceKind::job);
}

const KindTraits* kind_by_keys(const QueryContext& query, const std::string& prefix) {
  if (query.cluster() && !redis::has_hash_tag(prefix)) return nullptr;
  const store::CircularKeys circular(prefix.empty() ? "" : prefix + ":");
  const store::ScheduleKeys schedule(prefix);
  const store::FeedKeys feed(prefix);
  const auto told = query.redis.pipeline(
      {{"EXISTS", circular.list},
       {"EXISTS", circular.runs, circular.paused, circular.quarantined},
       {"EXISTS", schedule.schedules, schedule.statuses, schedule.timeline, schedule.taken}});
  // In a cluster, the keys of a feed may be in another hash slot.
  const auto jobs = query.redis.pipeline(
      {{"HGET", feed.config, "type"}, {"EXISTS", feed.claimed, feed.published}});
  const auto is_there = [](const redis::ReplyCopy& reply) {
    return !reply.is_error() && reply.number > 0;
  };
  if (is_there(told[0])) return &traits_of(SourceKind::circular);
  if (is_there(told[2])) return &schedule_kind();
  if (jobs[0].text == "job" || is_there(jobs[1])) return &feed_kind();
  // A circular list without items may have run records, a pause or quarantined items.
  return is_there(told[1]) ? &traits_of(SourceKind::circular) : nullptr;
}

const KindTraits* find_kind(QueryContext& query, const std::string& prefix) {
  if (query.lists != nullptr)
    if (const auto list = query.lists->find(prefix)) return list->kind;
  if (const KindTraits* kind = kind_by_keys(query, prefix)) return kind;
  return key_names(query, prefix).suffix.empty() ? nullptr : &schedule_kind();
}

std::string paused_text(const std::string& list) {
  return "the list " + escape_text(list) + " is paused; resume it with: w8yctl resume " +
         shell_argument(list);
}

const KindTraits& kind_or_default(QueryContext& query, const std::string& prefix) {
  const KindTraits* kind = find_kind(query, prefix);
  return kind == nullptr ? *default_kind : *kind;
}

}  // namespace w8y::verbs
