#include "ctl/top_snapshot.hpp"

#include <utility>

#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

/// Interval for rates, and the maximum number of statuses kept for it.
constexpr Duration rate_span = std::chrono::minutes(1);
constexpr std::size_t max_past = 16;

double per_minute(std::uint64_t now, std::uint64_t then, double minutes) {
  return (static_cast<double>(now) - static_cast<double>(then)) / minutes;
}

}  // namespace

TopSnapshot TopReader::read(const view::JsonFields& answer, Instant now) {
  TopSnapshot stats{view::read_host(answer), {}, read_problems(answer), {}};
  if (const auto fleet = answer.object("fleet")) stats.fleet = read_fleet_summary(*fleet);
  for (const view::JsonFields& each : answer.objects("lists"))
    if (auto list = view::read_list_in_fleet(each, view::api))
      stats.lists.push_back({std::move(list->list), std::move(list->totals)});

  if (stats.host.host_id != host_id_) {
    host_id_ = stats.host.host_id;
    past_.clear();
  }
  if (!past_.empty() && past_.front().at < now) {
    const double minutes =
        std::chrono::duration<double, std::ratio<60>>(now - past_.front().at).count();
    for (TopList& list : stats.lists) {
      const auto before = past_.front().counts.find(list.status.prefix);
      const Counts then = before == past_.front().counts.end() ? Counts{} : before->second;
      list.done_per_minute = per_minute(list.done(), then.done, minutes);
      list.failed_per_minute = per_minute(list.failed(), then.failed, minutes);
    }
  }
  remember(stats, now);
  return stats;
}

void TopReader::remember(const TopSnapshot& stats, Instant now) {
  while (!past_.empty() && now - past_.front().at > rate_span) past_.pop_front();
  // Keeps statuses that are spread over the whole interval.
  if (past_.size() > 1 && past_.size() >= max_past && now - past_.back().at < rate_span / max_past)
    return;
  if (past_.size() > max_past) past_.pop_front();
  Totals& past = past_.emplace_back();
  past.at = now;
  for (const TopList& list : stats.lists)
    if (list.done() > 0 || list.failed() > 0)
      past.counts[list.status.prefix] = {list.done(), list.failed()};
}

}  // namespace w8y::ctl
