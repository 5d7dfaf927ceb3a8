#include "operator/runs.hpp"

#include <algorithm>
#include <utility>

#include "core/pattern.hpp"
#include "operator/cursor.hpp"
#include "operator/error_groups.hpp"
#include "operator/lists.hpp"

namespace w8y::verbs {

namespace {

/// Bytes of the last line of log output in error_text().
constexpr std::size_t max_last_line = 200;

/// Run records to search for the runs of one item, and runs to return.
constexpr std::size_t max_past_runs = 2000;
constexpr std::size_t max_runs_of_item = 10;

/// Position of a page. Of one list: index, digest and time of an entry of each history, and whether
/// the kept run was returned. Of several lists: the time at which the last entry was added, and the
/// number of entries already returned for that millisecond.
class RunWalk {
 public:
  RunWalk(QueryContext& query, const std::vector<std::string>& lists, const RunFilter& filter,
          const std::string& after)
      : history_(query.redis, key_names(query, lists)), one_(lists.size() == 1) {
    const auto fields = read_cursor(after, one_ ? "run" : "runs", one_ ? fields_of_one : 2);
    if (one_ && filter.item && (fields.empty() || fields.back() == "0"))
      if (auto kept = read_kept_run(query.redis, key_names(query, lists.front()), *filter.item))
        history_.add_kept(std::move(*kept));
    if (fields.empty()) return;
    if (one_) {
      kept_before_ = fields.back() == "1";
      std::vector<History::Place> places;
      for (std::size_t i = 0; i < 3 * History::of_list; i += 3)
        places.push_back({static_cast<std::size_t>(cursor_number(fields[i])),
                          std::stoull("0" + hex_only(fields[i + 1]), nullptr, 16),
                          WallTime(cursor_number(fields[i + 2], ms_range))});
      history_.next_step(places);
      return;
    }
    time_ = WallTime(cursor_number(fields[0], ms_range));
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
    std::vector<std::string> fields{"run"};
    for (const History::Place& place : history_.places())
      fields.insert(fields.end(), {std::to_string(place.behind), hex(place.entry),
                                   std::to_string(place.entered.count())});
    fields.emplace_back(history_.kept_read() || kept_before_ ? "1" : "0");
    return make_cursor(fields);
  }

 private:
  static constexpr std::size_t fields_of_one = 3 * History::of_list + 1;

  static std::string hex(std::uint64_t number) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (auto at = text.rbegin(); at != text.rend(); ++at, number >>= 4U)
      *at = digits[number & 15U];
    return text;
  }
  static std::string hex_only(const std::string& text) {
    if (text.size() > 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
      return "0";
    return text;
  }

  History history_;
  bool one_;
  bool kept_before_ = false;  ///< an earlier page has the kept run
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

std::string error_text(const view::RunRecord& run) {
  std::string text = run.reason;
  std::string_view tail = run.error_output;
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.remove_suffix(1);
  if (const auto line = tail.rfind('\n'); line != std::string_view::npos)
    tail.remove_prefix(line + 1);
  tail = tail.substr(0, max_last_line);
  if (tail.empty() || text.find(tail) != std::string::npos) return text;
  return text + (text.empty() ? "" : ": ") + std::string(tail);
}

bool RunFilter::fits(const view::RunRecord& run) const {
  if (failed && !run.failed()) return false;
  if (!outcomes.empty() &&
      std::find(outcomes.begin(), outcomes.end(), run.outcome) == outcomes.end())
    return false;
  if (item && !is_item_of(run, *item)) return false;
  if (since && run.ended && *run.ended < *since) return false;
  if (!group.empty() && (!run.failed() || run.outcome == "cancelled" || group_of(run) != group))
    return false;
  return host.empty() || run.host == host || core::fits(host, run.host);
}

std::string list_runs(QueryContext& query, const std::optional<std::string>& list,
                      const RunFilter& filter, const PageRequest& part, const TakeRun& take) {
  RunWalk walk(query, lists_of(query, list), filter, part.after);
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

std::vector<view::RunRecord> runs_of_item(redis::SyncClient& client, const KeyNames& list,
                                          const Item& item) {
  std::vector<view::RunRecord> runs;
  const RunFilter filter{.item = item, .outcomes = {}, .host = {}};
  History history(client, {list});
  view::RunRecord run;
  while (runs.size() < max_runs_of_item && history.read() < max_past_runs && history.next(run))
    if (filter.fits(run)) runs.push_back(std::move(run));
  if (runs.size() == max_runs_of_item) return runs;
  // The histories may have deleted the record of the run that caused a quarantine or stall.
  if (auto kept = read_kept_run(client, list, item);
      kept && std::ranges::none_of(runs, [&](const auto& each) { return each.run == kept->run; }))
    runs.push_back(std::move(*kept));
  return runs;
}

}  // namespace w8y::verbs
