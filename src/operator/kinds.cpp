#include "operator/kinds.hpp"

#include <algorithm>
#include <array>

#include "core/escape.hpp"
#include "operator/key_names.hpp"
#include "operator/lists.hpp"
#include "redis/hash_slots.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

const KindVerbs gearman_verbs{
    .all_items = [](QueryContext&, const std::string& list, const std::string&,
                    std::size_t) -> view::ItemList { refuse_gearman(list); },
    .change_group = [](QueryContext&, const std::string& list, const std::string&,
                       const std::vector<Item>&, GroupChange,
                       const ChangeNote&) -> std::vector<ChangedItem> { refuse_gearman(list); },
    .refuse_items = [](QueryContext&, const std::string& list) { refuse_gearman(list); },
};

/// In the order of SourceKind.
constexpr std::array<const KindVerbs*, source_kind_count> kind_verbs{
    &circular_verbs, &schedule_verbs, &feed_verbs, &gearman_verbs};

}  // namespace

const KindVerbs& verbs_of(const KindTraits& kind) {
  return *kind_verbs[kind.index()];
}

const KindTraits& kind_of(const KindVerbs& verbs) {
  return *std::ranges::find_if(
      kind_rows, [&](const KindTraits& kind) { return kind_verbs[kind.index()] == &verbs; });
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
  if (is_there(told[0])) return &kind_of(circular_verbs);
  if (is_there(told[2])) return &kind_of(schedule_verbs);
  if (jobs[0].text == "job" || is_there(jobs[1])) return &kind_of(feed_verbs);
  // A circular list without items may have run records, a pause or quarantined items.
  return is_there(told[1]) ? &kind_of(circular_verbs) : nullptr;
}

const KindTraits* find_kind(QueryContext& query, const std::string& prefix) {
  if (query.lists != nullptr)
    if (const auto list = query.lists->find(prefix)) return list->kind;
  if (const KindTraits* kind = kind_by_keys(query, prefix)) return kind;
  return key_names(query, prefix).suffix.empty() ? nullptr : &kind_of(schedule_verbs);
}

std::string paused_text(const std::string& list) {
  return "the list " + escape_text(list) + " is paused; resume it with: w8yctl resume " +
         escape_text(list);
}

const KindTraits& kind_or_default(QueryContext& query, const std::string& prefix) {
  const KindTraits* kind = find_kind(query, prefix);
  return kind == nullptr ? *default_kind : *kind;
}

}  // namespace w8y::verbs
