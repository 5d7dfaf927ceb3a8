#include "app/ctl/top_figures.hpp"

#include <algorithm>
#include <utility>

#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// Rates are over so long, and no more statuses than these.
constexpr Duration rate_span = std::chrono::minutes(1);
constexpr std::size_t most_past = 16;

Cell redis_cell(const Json& redis) {
  const std::string trouble = text_in(redis, "trouble");
  const bool connected = redis.value("connected", false);
  if (connected && trouble.empty()) return {"connected"};
  return {(connected ? "can't be used" : "not connected") + (trouble.empty() ? "" : ": " + trouble),
          Colour::bad};
}

int top_rank(const std::string& state, std::int64_t quarantined) {
  if (state == "unavailable" || state == "starved") return 0;
  if (quarantined > 0) return 1;
  if (state == "refused" || state == "paused") return 2;
  return state == "running" ? 3 : 4;
}

TopList top_list(const Json& json) {
  TopList list;
  const std::string state = text_in(json, "state");
  const Json& counters = object_in(json, "counters");
  list.name = shown_in(json, "list");
  list.state = shaded(state);
  list.why = said_in(json, "why");
  list.running = number_in(json, "running");
  list.limit = number_in(json, "concurrency");
  list.done = number_in(counters, "succeeded");
  for (const char* name : {"failed", "crashed", "timed_out", "lost"})
    list.failed += number_in(counters, name);
  list.quarantined = number_in(json, "quarantined");
  list.lap_ms = ms_in(json, "lap_ms").count();
  list.rank = top_rank(state, list.quarantined);
  return list;
}

TopRun top_run(const std::string& list, const Json& json, std::int64_t now_ms) {
  TopRun run;
  run.list = list;
  run.item = item_in(json);
  run.run = text_in(json, "run");
  run.state = json.value("lease_lost", false) ? Cell("lock lost", Colour::bad)
                                              : shaded(text_in(json, "state"));
  run.for_ms = std::max<std::int64_t>(0, now_ms - ms_in(json, "started_ms").count());
  const Json& progress = object_in(json, "progress");
  const auto numerator = progress.find("numerator");
  const auto denominator = progress.find("denominator");
  if (numerator == progress.end() || !numerator->is_number()) return run;
  if (denominator == progress.end() || !denominator->is_number()) return run;
  run.has_progress = true;
  run.numerator = numerator->get<double>();
  run.denominator = denominator->get<double>();
  return run;
}

}  // namespace

TopFigures TopReader::read(const Json& status, Instant now) {
  TopFigures figures;
  const std::int64_t now_ms = ms_in(status, "now_ms").count();
  const Json& slots = object_in(status, "slots");
  figures.host = text_in(status, "host");
  figures.state = shaded(text_in(status, "state"));
  figures.up_ms = std::max<std::int64_t>(0, now_ms - ms_in(status, "started_ms").count());
  figures.redis =
      status.value("has_redis", true) ? redis_cell(object_in(status, "redis")) : Cell{"none"};
  figures.places_used = number_in(slots, "used");
  figures.places_limit = number_in(slots, "limit");
  for (const auto& problem : array_in(status, "problems"))
    figures.problems.emplace_back(said_in(problem, "text"), Colour::bad);
  for (const auto& json : array_in(status, "lists")) {
    figures.lists.push_back(top_list(json));
    for (const auto& run : array_in(json, "runs"))
      figures.runs.push_back(top_run(figures.lists.back().name, run, now_ms));
  }
  std::ranges::stable_sort(figures.runs, std::greater<>(), &TopRun::for_ms);

  if (std::string id = text_in(status, "host_id"); id != host_id_) {
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

}  // namespace w8y::app::ctl
