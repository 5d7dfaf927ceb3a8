#include "app/list_stats_cache.hpp"

namespace w8y::app {

void KnownFigures::note(const std::string& prefix, const ListFigures& figures, Duration age) {
  Known& known = lists_[prefix];
  if (known.figures.at == figures.at && known.at != Instant{}) return;
  known.figures = figures;
  known.at = clock_.now() - age;
}

void KnownFigures::forget() {
  lists_.clear();
  fleet_.reset();
}

const ListFigures* KnownFigures::find(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end() || found->second.at + figures_life < clock_.now()) return nullptr;
  return &found->second.figures;
}

std::vector<LapAt> KnownFigures::cycles(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  return found == lists_.end() ? std::vector<LapAt>() : found->second.figures.cycles;
}

std::optional<Duration> KnownFigures::age(const std::string& prefix) const {
  const auto found = lists_.find(prefix);
  if (found == lists_.end()) return std::nullopt;
  return clock_.now() - found->second.at;
}

void KnownFigures::add_to(ListStatus& status) const {
  if (const ListFigures* figures = find(status.prefix)) status.figures = *figures;
}

}  // namespace w8y::app
