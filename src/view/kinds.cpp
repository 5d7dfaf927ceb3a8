#include "view/kinds.hpp"

#include <array>
#include <iterator>

#include "view/why_phrases.hpp"

namespace w8y::view {

namespace {

constexpr std::array<std::string_view, 4> circular_states{"free", "running", "delayed",
                                                          "quarantined"};
constexpr std::array<std::string_view, 8> schedule_states{
    "running", "queued", "scheduled", "finished", "stopped", "bad", "died", "orphaned"};
constexpr std::array<std::string_view, 6> feed_states{"running", "delayed", "claimed",
                                                      "queued",  "stalled", "orphaned"};

/// In the order of SourceKind.
constexpr KindView kind_views[] = {
    {.states = circular_states,
     .surface = circular_item,
     .item = "item",
     .claimable = "free",
     .kept = "quarantined",
     .why = core::why_circular_item},
    {.states = schedule_states,
     .surface = schedule_job,
     .list = "schedule",
     .claimable = "queued",
     .kept = "stopped",
     .waits_in_queue = true,
     .has_queues = true,
     .why = core::why_schedule_job},
    {.states = feed_states,
     .list = "feed",
     .claimable = "queued",
     .kept = "stalled",
     .waits_in_queue = true,
     .counts_consecutively = false,
     .always_has_length = true,
     .no_expiry = "; it has no lease that could expire.",
     .unknown_reason = ": it is finished, was retracted, or never existed.",
     .why = core::why_feed_job},
    {},
};
static_assert(std::size(kind_views) == source_kind_count);

}  // namespace

const KindView& view_of(const KindTraits& kind) {
  return kind_views[kind.index()];
}

const KindView& view_of(const WhyList& list) {
  return view_of(*list.kind);
}

}  // namespace w8y::view
