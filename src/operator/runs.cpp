#include "operator/runs.hpp"

#include <algorithm>
#include <utility>

#include "core/pattern.hpp"
#include "operator/cursor.hpp"
#include "operator/lists.hpp"

namespace w8y::verbs {

namespace {

/// Run records to search for the runs of one item, and runs to return.
constexpr std::size_t max_past_runs = 2000;
constexpr std::size_t max_runs_of_item = 10;

/// Position of a page. Of one list: index and digest of an entry. Of several lists: the time at
/// which the last entry was added, and the number of entries already returned for that millisecond.
class RunWalk {
 public:
  RunWalk(QueryContext& query, const std::vector<std::string>& lists, const std::string& after)
      : history_(query.redis, lists), one_(lists.size() == 1) {
    const auto fields = read_cursor(after, one_ ? "run" : "runs", 2);
    if (fields.empty()) return;
    const std::int64_t first = cursor_number(fields[0], one_ ? count_range : ms_range);
    if (one_) {
      const auto entry = std::stoull("0" + hex_only(fields[1]), nullptr, 16);
      history_.next_step({static_cast<std::size_t>(first), entry});
      return;
    }
    time_ = WallTime(first);
    seen_ = skip_ = cursor_number(fields[1]);
    history_.seek(*time_);
  }

  bool next(view::RunRecord& run) {
    while (history_.next(run)) {
      if (one_) return true;
      if (skip_ > 0 && time_ && run.entered >= *time_) {
        if (run.entered == *time_) --skip_;
        continue;
      }
      if (time_ && run.entered > *time_ && seen_ > 0 && !moved_) continue;
      moved_ = true;
      seen_ = time_ && run.entered == *time_ ? seen_ + 1 : 1;
      time_ = run.entered;
      return true;
    }
    return false;
  }
  [[nodiscard]] std::string cursor() const {
    if (!one_) return make_cursor({"runs", std::to_string(time_->count()), std::to_string(seen_)});
    static constexpr char digits[] = "0123456789abcdef";
    std::string entry(16, '0');
    std::uint64_t left = history_.place().entry;
    for (auto at = entry.rbegin(); at != entry.rend(); ++at, left >>= 4U) *at = digits[left & 15U];
    return make_cursor({"run", std::to_string(history_.place().behind), entry});
  }

 private:
  static std::string hex_only(const std::string& text) {
    if (text.size() > 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
      return "0";
    return text;
  }

  History history_;
  bool one_;
  std::optional<WallTime> time_;
  std::int64_t seen_ = 0;
  std::int64_t skip_ = 0;
  bool moved_ = false;
};

/// Compares as much of a long item as the history has, and its length.
bool is_item_of(const view::RunRecord& run, const Item& item) {
  return run.item.length == item.size() && run.item.beginning == shown_part(item);
}

}  // namespace

bool RunFilter::fits(const view::RunRecord& run) const {
  if (failed && !run.failed()) return false;
  if (!outcomes.empty() &&
      std::find(outcomes.begin(), outcomes.end(), run.outcome) == outcomes.end())
    return false;
  if (item && !is_item_of(run, *item)) return false;
  if (since && run.ended && *run.ended < *since) return false;
  return host.empty() || run.host == host || core::fits(host, run.host);
}

std::string list_runs(QueryContext& query, const std::optional<std::string>& list,
                      const RunFilter& filter, const PageRequest& part, const TakeRun& take) {
  RunWalk walk(query, lists_of(query, list), part.after);
  std::size_t count = 0;
  view::RunRecord run;
  for (std::size_t looked = 0; walk.next(run);) {
    // Entries are in order by Redis's clock, but not by the clocks of hosts.
    if (filter.since && run.entered < *filter.since) break;
    bool full = false;
    if (filter.fits(run)) {
      full = !take(std::move(run));
      run = {};
      ++count;
    }
    if (count < part.limit && ++looked < part.max_read && !full) continue;
    std::string cursor = walk.cursor();
    return walk.next(run) ? cursor : std::string();
  }
  return {};
}

std::vector<view::RunRecord> runs_of_item(redis::SyncClient& client, const std::string& list,
                                          const Item& item) {
  std::vector<view::RunRecord> runs;
  const RunFilter filter{.item = item, .outcomes = {}, .host = {}};
  History history(client, {list});
  view::RunRecord run;
  while (runs.size() < max_runs_of_item && history.read() < max_past_runs && history.next(run))
    if (filter.fits(run)) runs.push_back(std::move(run));
  return runs;
}

}  // namespace w8y::verbs
