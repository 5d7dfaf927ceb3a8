#include "app/ctl/run_search.hpp"

#include <algorithm>
#include <utility>

#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/text.hpp"
#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "operator/runs.hpp"
#include "operator/stored.hpp"
#include "view/list_view.hpp"

namespace w8y::app::ctl {

namespace {

using view::JsonFields;

/// Ids that are told where more than one fits.
constexpr std::size_t most_told = 5;

}  // namespace

RunSearch::RunSearch(Context& context, const std::string& start, std::optional<std::string> list)
    : context_(context), start_(verbs::run_id_of(start)), list_(std::move(list)) {
  if (start_.empty()) throw Failure(wrong_usage, "a run id, or the start of one, is not empty");
}

void RunSearch::look_here() {
  const auto answer = context_.try_ask("/api/v1/status");
  if (!answer) return;
  for (const JsonFields& each : answer->objects("lists")) {
    const auto list = view::read_list(each, view::api);
    if (!list || !is_in(list->prefix)) continue;
    for (const RunStatus& run : list->runs)
      if (std::string_view(run.run).starts_with(start_))
        found_[std::string(std::string_view(run.run))].here =
            view::RunView{list->prefix, run, {}, {}, answer->text("host"), {}};
  }
}

void RunSearch::look_in_fleet(FleetAccess& fleet) {
  FleetOrder order;
  order.kind = OrderKind::runs;
  order.run = start_;
  for (const FleetAnswer& host : fleet.give(std::move(order)).answers)
    for (const view::RunView& run : host.runs) {
      if (!std::string_view(run.status.run).starts_with(start_) || !is_in(run.list)) continue;
      auto& found = found_[std::string(std::string_view(run.status.run))].in_fleet;
      found = run;
      found->host = host.host;
      found->host_id = host.host_id;
    }
}

/// Whether runs of this list are looked for.
bool RunSearch::is_in(const std::string& prefix) const {
  return !list_ || *list_ == prefix || core::fits(*list_, prefix);
}

void RunSearch::look_elsewhere() {
  if (!verbs::earliest_time(start_)) return;
  for (const auto& prefix : context_.lists_of(list_)) {
    view::ItemList running = verbs::read_items(context_.redis(), context_.keys(prefix), "running");
    for (auto& item : running.items) {
      if (!item.since || !item.run.starts_with(start_)) continue;
      std::optional<Held>& held = found_[item.run].elsewhere;
      held = Held{prefix, std::move(item)};
    }
  }
}

void RunSearch::look_back() {
  // Ids that are none of ours are looked for everywhere, since an exact one wins.
  const auto earliest = verbs::earliest_time(start_);
  verbs::History history(context_.redis(), context_.lists_of(list_));
  view::RunRecord run;
  while (history.next(run)) {
    // It can't have ended before it was claimed.
    if (earliest && run.ended.value_or(WallTime{0}) + verbs::clock_slack < *earliest) return;
    const std::string& id = run.run;
    if (!id.starts_with(start_)) continue;
    found_[id].finished = run;
    if (id == start_ || (earliest && found_.size() > most_told)) return;
  }
}

bool RunSearch::settled() const {
  return found_.contains(start_);
}

const std::string& RunSearch::id() const {
  return settled() ? start_ : found_.begin()->first;
}

const RunSearch::Found* RunSearch::only() const {
  if (found_.empty()) return nullptr;
  const auto exactly = found_.find(start_);
  if (exactly != found_.end()) return &exactly->second;
  if (found_.size() == 1) return &found_.begin()->second;
  std::string told;
  std::size_t count = 0;
  for (const auto& [id, found] : found_)
    if (count++ < most_told) told += (told.empty() ? "" : ", ") + escape(id);
  throw Failure(refused, "more than one run's id starts with " + escape_text(start_) + ": " + told +
                             (count > most_told ? ", …" : ""));
}

}  // namespace w8y::app::ctl
