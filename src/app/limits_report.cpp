#include "app/limits_report.hpp"

#include <utility>

#include "core/limit_check.hpp"
#include "executor/executor_factory.hpp"
#include "process/host_limits.hpp"

namespace w8y::app {

void LimitsReport::applied(const Config& config) {
  std::vector<ListNeed> served;
  for (const auto& [prefix, list] : supervisor_.lists()) {
    if (list->state() != ServingState::serving) continue;
    const ListConfigPtr& rule = config.lists.at(prefix);
    served.push_back({rule, executor::serves_stream(*rule, list->caps())});
  }
  auto lines = shortfalls(served, config.supervisor, process::host_limits());
  if (lines == shortfalls_) return;
  shortfalls_ = std::move(lines);
  for (const auto& line : shortfalls_) log_.warn(line);
}

}  // namespace w8y::app
