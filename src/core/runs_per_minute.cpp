#include "core/runs_per_minute.hpp"

#include <algorithm>
#include <utility>

namespace w8y {

namespace {

std::int64_t minute_of(WallTime time) {
  return std::chrono::floor<std::chrono::minutes>(time).count();
}

std::size_t bucket_of(std::int64_t minute) {
  return static_cast<std::size_t>(((minute % RunsPerMinute::length) + RunsPerMinute::length) %
                                  RunsPerMinute::length);
}

}  // namespace

/// A bucket is valid only for the minute that it stores; older data is expired. After the clock was
/// set back, runs are added to the newest bucket.
void RunsPerMinute::Buckets::add(std::int64_t minute, bool failed) {
  if (minute < newest_) minute = newest_;
  newest_ = minute;
  MinuteCount& bucket = buckets_[bucket_of(minute)];
  if (bucket.minute != minute) bucket = {minute, 0, 0};
  ++bucket.runs;
  if (failed) ++bucket.failed;
}

MinuteCount RunsPerMinute::Buckets::at(std::int64_t minute) const {
  const MinuteCount& bucket = buckets_[bucket_of(minute)];
  return bucket.minute == minute ? bucket : MinuteCount{minute, 0, 0};
}

std::vector<MinuteCount> RunsPerMinute::Buckets::until(std::int64_t minute,
                                                       std::int64_t last) const {
  std::vector<MinuteCount> found;
  for (std::int64_t each = minute - last + 1; each <= minute; ++each)
    if (const MinuteCount stats = at(each); stats.runs > 0) found.push_back(stats);
  return found;
}

/// Returns the statistics of a minute. While nothing is drained, because Redis is unavailable, the
/// oldest minute is dropped for each new one.
MinuteStats& RunsPerMinute::Counts::pending_at(std::int64_t minute) {
  if (pending.empty() || pending.back().count.minute < minute) {
    if (pending.size() == static_cast<std::size_t>(length)) pending.erase(pending.begin());
    pending.emplace_back().count.minute = minute;
  }
  return pending.back();
}

RunsPerMinute::Counts& RunsPerMinute::counts_of(std::string_view prefix, std::int64_t minute) {
  if (minute > total_.newest) forget_old(minute);
  total_.newest = std::max(total_.newest, minute);
  auto found = lists_.find(prefix);
  if (found == lists_.end()) found = lists_.try_emplace(std::string(prefix)).first;
  found->second.newest = std::max(found->second.newest, minute);
  return found->second;
}

void RunsPerMinute::add(std::string_view prefix, bool failed, Duration duration, WallTime now) {
  const std::int64_t minute = minute_of(now);
  const unsigned bin = DurationBins::bin_of(duration);
  for (Counts* const counts : {&counts_of(prefix, minute), &total_}) {
    counts->buckets.add(minute, failed);
    MinuteStats& pending = counts->pending_at(minute);
    ++pending.count.runs;
    if (failed) ++pending.count.failed;
    pending.durations.add(bin, 1);
  }
}

void RunsPerMinute::add_cycle(std::string_view prefix, WallTime cycle, WallTime now) {
  const std::int64_t minute = minute_of(now);
  for (Counts* const counts : {&counts_of(prefix, minute), &total_})
    counts->pending_at(minute).cycles.add(cycle);
}

std::vector<MinuteStats> RunsPerMinute::drain(std::size_t most) {
  std::vector<MinuteStats> all = std::exchange(total_.pending, {});
  std::vector<std::pair<const std::string, Counts>*> due;
  for (auto& list : lists_)
    if (!list.second.pending.empty()) due.push_back(&list);
  const std::size_t taken = std::min(due.size(), most);
  const auto minute = [](const auto* list) { return list->second.pending.front().count.minute; };
  std::partial_sort(due.begin(), due.begin() + static_cast<std::ptrdiff_t>(taken), due.end(),
                    [&](const auto* a, const auto* b) { return minute(a) < minute(b); });
  due.resize(taken);
  for (auto* const list : due)
    for (MinuteStats& each : std::exchange(list->second.pending, {})) {
      each.list = list->first;
      all.push_back(std::move(each));
    }
  return all;
}

void RunsPerMinute::forget_old(std::int64_t minute) {
  std::erase_if(lists_, [&](const auto& list) { return list.second.newest <= minute - length; });
}

std::vector<MinuteCount> RunsPerMinute::total(WallTime now, std::int64_t last) const {
  return total_.buckets.until(minute_of(now), last);
}

std::vector<MinuteCount> RunsPerMinute::of(std::string_view prefix, WallTime now,
                                           std::int64_t last) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return {};
  return found->second.buckets.until(minute_of(now), last);
}

MinuteCount RunsPerMinute::sum(std::string_view prefix, WallTime now) const {
  MinuteCount all{minute_of(now), 0, 0};
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return all;
  for (std::int64_t back = 0; back < length; ++back) {
    const MinuteCount each = found->second.buckets.at(all.minute - back);
    all.runs += each.runs;
    all.failed += each.failed;
  }
  return all;
}

void RunsPerMinute::each(
    std::int64_t minute,
    const std::function<void(const std::string&, const MinuteCount&)>& look) const {
  for (const auto& [prefix, counts] : lists_)
    if (const MinuteCount stats = counts.buckets.at(minute); stats.runs > 0) look(prefix, stats);
}

std::string to_json_text(const std::vector<MinuteCount>& minutes) {
  std::string text = "[";
  for (const MinuteCount& each : minutes) {
    text.append(text.size() > 1 ? ",[" : "[").append(std::to_string(each.minute));
    text.append(",").append(std::to_string(each.runs));
    text.append(",").append(std::to_string(each.failed)).append("]");
  }
  return text += ']';
}

}  // namespace w8y
