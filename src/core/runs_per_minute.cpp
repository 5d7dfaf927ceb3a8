#include "core/runs_per_minute.hpp"

#include <algorithm>

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

void RunsPerMinute::add(std::string_view prefix, bool failed, WallTime now) {
  const std::int64_t minute = minute_of(now);
  if (minute > total_.newest()) forget_old(minute);
  total_.add(minute, failed);
  auto found = lists_.find(prefix);
  if (found == lists_.end()) found = lists_.try_emplace(std::string(prefix)).first;
  found->second.add(minute, failed);
}

void RunsPerMinute::forget_old(std::int64_t minute) {
  std::erase_if(lists_, [&](const auto& list) { return list.second.newest() <= minute - length; });
}

std::vector<MinuteCount> RunsPerMinute::total(WallTime now, std::int64_t last) const {
  return total_.until(minute_of(now), last);
}

std::vector<MinuteCount> RunsPerMinute::of(std::string_view prefix, WallTime now,
                                           std::int64_t last) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return {};
  return found->second.until(minute_of(now), last);
}

MinuteCount RunsPerMinute::sum(std::string_view prefix, WallTime now) const {
  MinuteCount all{minute_of(now), 0, 0};
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return all;
  for (std::int64_t back = 0; back < length; ++back) {
    const MinuteCount each = found->second.at(all.minute - back);
    all.runs += each.runs;
    all.failed += each.failed;
  }
  return all;
}

void RunsPerMinute::each(
    std::int64_t minute,
    const std::function<void(const std::string&, const MinuteCount&)>& look) const {
  for (const auto& [prefix, buckets] : lists_)
    if (const MinuteCount stats = buckets.at(minute); stats.runs > 0) look(prefix, stats);
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
