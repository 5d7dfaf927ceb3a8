#include "app/run_counts_publisher.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::app {

namespace {

/// Maximum number of lists in the text of a minute.
constexpr std::size_t max_counted_lists = 1000;

void put_stats(core::JsonObject& json, const MinuteCount& stats) {
  json.put("runs", static_cast<std::int64_t>(stats.runs));
  json.put("failed", static_cast<std::int64_t>(stats.failed));
}

}  // namespace

RunCountsPublisher::Minutes RunCountsPublisher::drain(const RedisClock& time) {
  const WallTime here = clock_.wall();
  // Offset of this host's clock from the clock of Redis, in whole minutes, so that a host with a
  // wrong clock is shown correctly.
  const auto ahead = std::chrono::round<std::chrono::minutes>(
      time.known() ? time.at(clock_.now()) - here : WallTime{0});
  Minutes changed;
  std::vector<MinuteCount> all = hour_.total(here);
  for (const MinuteCount& each : all) {
    if (std::find(published_.begin(), published_.end(), each) != published_.end()) continue;
    const std::int64_t minute = each.minute + ahead.count();
    changed.push_back({minute, text_of(each, minute)});
  }
  published_ = std::move(all);
  return changed;
}

std::string RunCountsPublisher::text_of(const MinuteCount& total, std::int64_t minute) const {
  std::vector<std::pair<std::string, MinuteCount>> lists;
  hour_.each(total.minute, [&lists](const std::string& prefix, const MinuteCount& stats) {
    lists.emplace_back(prefix, stats);
  });
  const std::size_t shown = std::min(lists.size(), max_counted_lists);
  std::partial_sort(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(shown), lists.end(),
                    [](const auto& a, const auto& b) {
                      return std::pair(b.second.runs, a.first) < std::pair(a.second.runs, b.first);
                    });
  std::string texts = "[";
  for (std::size_t i = 0; i < shown; ++i) {
    core::JsonObject json(64);
    json.put_bytes("list", lists[i].first);
    put_stats(json, lists[i].second);
    const std::string text = json.finish();
    if (texts.size() + text.size() > store::FleetKeys::max_minute - 256) break;
    texts.append(texts.size() > 1 ? "," : "").append(text);
  }
  core::JsonObject json(texts.size() + 128);
  json.put("minute", minute);
  put_stats(json, total);
  json.put_json("lists", texts + "]");
  return json.finish();
}

}  // namespace w8y::app
