#include "app/limits_report.hpp"

#include <utility>

#include "core/limit_check.hpp"
#include "process/host_limits.hpp"

namespace w8y::app {

void LimitsReport::applied(const Config& config) {
  std::vector<ListConfigPtr> served;
  for (const auto& [prefix, list] : supervisor_.lists())
    if (list->state() == ServingState::serving) served.push_back(config.lists.at(prefix));
  auto lines = shortfalls(served, config.supervisor, process::host_limits());
  if (lines == shortfalls_) return;
  shortfalls_ = std::move(lines);
  for (const auto& line : shortfalls_) log_.warn(line);
}

}  // namespace w8y::app
