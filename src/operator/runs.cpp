#include "operator/runs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "core/pattern.hpp"
#include "operator/cursor.hpp"
#include "operator/lists.hpp"
#include "operator/stored.hpp"

namespace w8y::verbs {

namespace {

/// Entries that one answer looks at, besides the first ones of each list.
constexpr std::size_t most_entries = 5000;
/// The same where one run is looked for.
constexpr std::size_t most_searched = 50'000;
/// About what one answer has, in bytes: each run may have the tail of a standard error.
constexpr std::size_t most_run_bytes = std::size_t{8} << 20;
/// Bytes reserved for the end of a response, behind its runs.
constexpr std::size_t room_for_end = 4096;

/// Of one list: place and digest. Of many: when the last one came in, and how many of that
/// millisecond have been looked at.
class RunWalk {
 public:
  RunWalk(QueryContext& query, const std::vector<std::string>& lists, const std::string& after)
      : history_(query.redis, lists), one_(lists.size() == 1) {
    const auto fields = read_cursor(after, one_ ? "run" : "runs", 2);
    if (fields.empty()) return;
    const std::int64_t first = cursor_number(fields[0], one_ ? count_range : ms_range);
    if (one_) {
      const auto entry = std::stoull("0" + hex_only(fields[1]), nullptr, 16);
      history_.go_on({static_cast<std::size_t>(first), entry});
      return;
    }
    time_ = WallTime(first);
    seen_ = skip_ = cursor_number(fields[1]);
    history_.go_back_to(*time_);
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

/// Of a long one as much as the history has, and its length.
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
  return host.empty() || run.host == host || core::fits(host, run.host);
}

std::string runs_json(QueryContext& query, const std::string& list, const RunFilter& filter,
                      const PageRequest& part) {
  RunWalk walk(query, lists_of(query, list), part.after);
  std::string text = R"({"runs":[)";
  std::string next = "null";
  std::size_t count = 0;
  view::RunRecord run;
  for (std::size_t looked = 0; walk.next(run);) {
    if (filter.fits(run)) {
      const std::string shown = view::to_json(run);
      run.result.clear();
      run.result.shrink_to_fit();
      // A run may be large: there is room for the end of the answer, which is not copied for it.
      if (shown.size() > text.capacity() - text.size())
        text.reserve(text.size() + shown.size() + room_for_end);
      text.append(count++ > 0 ? "," : "").append(shown);
    }
    if (count < part.limit && ++looked < most_entries && text.size() < most_run_bytes) continue;
    const std::string cursor = walk.cursor();
    if (walk.next(run)) next = "\"" + cursor + "\"";
    break;
  }
  return text.append("],\"next\":").append(next).append("}");
}

std::optional<view::RunRecord> find_finished(QueryContext& query, const std::string& list,
                                             const std::string& start) {
  const auto earliest = earliest_time(start);
  History history(query.redis, lists_of(query, list));
  std::map<std::string, view::RunRecord> found;
  view::RunRecord run;
  while (history.next(run)) {
    // It can't have ended before it was claimed.
    if (earliest && run.ended.value_or(WallTime{0}) + clock_slack < *earliest) break;
    const std::string id = run.run;
    if (id.starts_with(start)) found[id] = run;
    if (id == start) return run;
    if (found.size() > 1 && earliest) break;
    if (history.read() <= most_searched) continue;
    if (!found.empty()) break;
    throw Refusal(409, "more than " + std::to_string(most_searched) +
                           " runs have ended since; say by ?list= which list it is of");
  }
  if (found.empty()) return std::nullopt;
  if (found.size() > 1)
    throw Refusal(409, "more than one run's id starts with " + escape_text(start) + ": " +
                           escape(found.begin()->first) + ", " +
                           escape(std::next(found.begin())->first) + ", …");
  return std::move(found.begin()->second);
}

}  // namespace w8y::verbs
