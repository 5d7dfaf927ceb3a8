#include "ctl/top_figures.hpp"

#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "ctl/text.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"
#include "view/problems.hpp"

namespace w8y::ctl {

namespace {

/// Rates are over so long, and no more statuses than these.
constexpr Duration rate_span = std::chrono::minutes(1);
constexpr std::size_t most_past = 16;

Cell redis_cell(const RedisStatus& redis) {
  if (redis.connected && redis.trouble.empty()) return {"connected"};
  return {(redis.connected ? "unavailable" : "not connected") +
              (redis.trouble.empty() ? "" : ": " + escape(redis.trouble)),
          Colour::bad};
}

int top_rank(ListState state, std::int64_t quarantined) {
  if (state == ListState::unavailable || state == ListState::starved) return 0;
  if (quarantined > 0) return 1;
  if (state == ListState::refused || state == ListState::paused) return 2;
  return state == ListState::running ? 3 : 4;
}

TopList top_list(const ListStatus& status) {
  TopList list;
  list.name = escape_text(status.prefix);
  list.state = shaded(state_name(status.state));
  list.why = said(status.why);
  list.running = static_cast<std::int64_t>(status.running);
  list.limit = status.concurrency;
  list.done = static_cast<std::int64_t>(status.counters.succeeded);
  list.failed = static_cast<std::int64_t>(view::failures(status.counters));
  list.quarantined = static_cast<std::int64_t>(status.quarantined.value_or(0));
  if (status.figures && status.figures->lap) list.cycle_ms = status.figures->lap->count();
  list.rank = top_rank(status.state, list.quarantined);
  return list;
}

TopRun top_run(const std::string& list, const RunStatus& status, WallTime now) {
  TopRun run;
  run.list = list;
  run.item = item_text(status.item);
  run.run = escape(status.run);
  run.state = status.lease_lost ? Cell("lock lost", Colour::bad) : shaded(state_name(status.state));
  run.for_ms = std::max<std::int64_t>(0, (now - status.started).count());
  if (!status.progress) return run;
  run.has_progress = true;
  run.numerator = status.progress->numerator;
  run.denominator = status.progress->denominator;
  return run;
}

}  // namespace

TopFigures TopReader::read(const view::JsonFields& answer, Instant now) {
  TopFigures figures;
  const HostStatus status = view::read_host(answer);
  figures.host = escape(status.host);
  figures.state = shaded(state_name(status.state));
  figures.up_ms = std::max<std::int64_t>(0, (status.now - status.started).count());
  figures.redis = status.has_redis ? redis_cell(status.redis) : Cell{"none"};
  figures.places_used = static_cast<std::int64_t>(status.slots_used);
  figures.places_limit = static_cast<std::int64_t>(status.slots_limit);
  for (const ShownProblem& problem : read_problems(answer))
    figures.problems.emplace_back(said(problem.text), Colour::bad);
  for (const view::JsonFields& each : answer.objects("lists")) {
    const auto list = view::read_list(each, view::api);
    if (!list) continue;
    figures.lists.push_back(top_list(*list));
    for (const RunStatus& run : list->runs)
      figures.runs.push_back(top_run(figures.lists.back().name, run, status.now));
  }
  std::ranges::stable_sort(figures.runs, std::greater<>(), &TopRun::for_ms);

  if (std::string id = escape(status.host_id); id != host_id_) {
    host_id_ = std::move(id);
    past_.clear();
  }
  if (!past_.empty() && past_.front().at < now) {
    const double minutes =
        std::chrono::duration<double, std::ratio<60>>(now - past_.front().at).count();
    for (TopList& list : figures.lists) {
      const auto before = past_.front().counts.find(list.name);
      const Counts then = before == past_.front().counts.end() ? Counts{} : before->second;
      list.done_per_minute = static_cast<double>(list.done - then.done) / minutes;
      list.failed_per_minute = static_cast<double>(list.failed - then.failed) / minutes;
    }
  }
  remember(figures, now);
  return figures;
}

void TopReader::remember(const TopFigures& figures, Instant now) {
  while (!past_.empty() && now - past_.front().at > rate_span) past_.pop_front();
  // Of all that could be kept, those that are spread over the whole span.
  if (past_.size() > 1 && past_.size() >= most_past &&
      now - past_.back().at < rate_span / most_past)
    return;
  if (past_.size() > most_past) past_.pop_front();
  Past& past = past_.emplace_back();
  past.at = now;
  for (const TopList& list : figures.lists)
    if (list.done > 0 || list.failed > 0) past.counts[list.name] = {list.done, list.failed};
}

}  // namespace w8y::ctl
