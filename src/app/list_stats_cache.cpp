#include "app/list_stats_cache.hpp"

namespace w8y::app {

void ListStatsCache::record(const std::string& prefix, const ListStats& stats, Duration age) {
  Entry& known = lists_[prefix];
  if (known.stats.at == stats.at && known.at != Instant{}) return;
  known.stats = stats;
  known.at = clock_.now() - age;
}

void ListStatsCache::forget() {
  lists_.clear();
  fleet_.reset();
}

const ListStats* ListStatsCache::find(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end() || found->second.at + stats_life < clock_.now()) return nullptr;
  return &found->second.stats;
}

std::vector<CycleAt> ListStatsCache::cycles(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  return found == lists_.end() ? std::vector<CycleAt>() : found->second.stats.cycles;
}

std::optional<Duration> ListStatsCache::age(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return std::nullopt;
  return clock_.now() - found->second.at;
}

void ListStatsCache::add_to(ListStatus& status) const {
  if (const ListStats* stats = find(status.prefix)) status.stats = *stats;
}

}  // namespace w8y::app
