#include "operator/run_matches.hpp"

#include <utility>

#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "operator/circular_items.hpp"
#include "operator/history.hpp"
#include "operator/lists.hpp"
#include "operator/runs.hpp"
#include "operator/stored.hpp"

namespace w8y::verbs {

namespace {

/// IDs in an error message if several match.
constexpr std::size_t max_named = 5;

}  // namespace

RunMatches::RunMatches(const std::string& start, std::optional<std::string> list)
    : start_(run_id_of(start)), list_(std::move(list)) {
  if (start_.empty())
    throw QueryError(400, "the run ID is empty; give at least its first character");
}

bool RunMatches::fits(const std::string& list, std::string_view run) const {
  return run.starts_with(start_) && (!list_ || *list_ == list || core::fits(*list_, list));
}

void RunMatches::add(view::RunView&& run) {
  if (!fits(run.list, run.status.run)) return;
  FoundRun& found = found_[std::string(std::string_view(run.status.run))];
  if (found.active) return;
  found.list = run.list;
  found.active = std::move(run);
}

void RunMatches::add(const FleetCommandResult& replies) {
  for (const FleetReply& host : replies.replies)
    for (view::RunView run : host.runs) {
      run.host = host.host;
      run.host_id = host.host_id;
      add(std::move(run));
    }
  if (!replies.error.empty())
    missing_ = "; other hosts could not be queried: " + escape(replies.error);
  for (const auto& host : replies.no_reply)
    missing_ += (missing_.empty() ? "; no reply from: " : ", ") + escape_text(host.host);
}

void RunMatches::add_held(QueryContext& query) {
  if (!earliest_time(start_)) return;
  for (const std::string& list : lists_of(query, list_)) {
    view::ItemList running = read_items(query.redis, circular_keys(query, list), "running");
    for (view::ItemView& item : running.items) {
      if (!item.since || !fits(list, item.run)) continue;
      FoundRun& found = found_[item.run];
      found.list = list;
      found.held = std::move(item);
    }
  }
}

void RunMatches::add_finished(QueryContext& query, std::size_t max_read) {
  // Text with which no ULID starts is compared with the whole history, since an exact match wins.
  const auto earliest = earliest_time(start_);
  History history(query.redis, key_names(query, lists_of(query, list_)));
  std::size_t matches = 0;
  view::RunRecord run;
  bool all = true;
  // A run cannot have ended before it was claimed.
  while (history.next(run) &&
         !(earliest && run.ended.value_or(WallTime{0}) + clock_slack < *earliest)) {
    if (run.run.starts_with(start_)) {
      FoundRun& found = found_[run.run];
      matches += found.finished ? 0 : 1;
      found.list = run.list;
      found.finished = std::move(run);
      if (settled() || (earliest && matches > max_named)) return;
    }
    if (max_read == 0 || history.read() <= max_read) continue;
    all = false;
    break;
  }
  add_kept(query);
  if (!all && empty())
    throw QueryError(409, "the run is not among the last " + std::to_string(max_read) +
                              " finished runs; name its list with ?list=");
}

/// Reads the runs that are kept while the quarantines and stalls last that they caused. They may be
/// older than the histories.
void RunMatches::add_kept(QueryContext& query) {
  read_kept_runs(query.redis, key_names(query, lists_of(query, list_)),
                 [this](view::RunRecord&& run) {
                   if (!run.run.starts_with(start_)) return true;
                   FoundRun& found = found_[run.run];
                   found.list = run.list;
                   if (!found.finished) found.finished = std::move(run);
                   return !settled() && found_.size() <= max_named;
                 });
}

const FoundRun& RunMatches::only() const {
  if (empty())
    throw QueryError(404, "there is no run " + escape_text(start_) +
                              ": it is neither active nor in the history" + missing_);
  if (settled()) return found_.at(start_);
  if (found_.size() == 1) return found_.begin()->second;
  std::string named;
  std::size_t count = 0;
  for (const auto& [id, found] : found_)
    if (count++ < max_named) named += (named.empty() ? "" : ", ") + escape(id);
  throw QueryError(409, "several run IDs start with " + escape_text(start_) + ": " + named +
                            (count > max_named ? ", …" : ""));
}

const std::string& RunMatches::id() const {
  return settled() ? start_ : found_.begin()->first;
}

}  // namespace w8y::verbs
