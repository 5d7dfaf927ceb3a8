#include "app/api/run_finder.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "app/api/parameters.hpp"
#include "core/escape.hpp"
#include "operator/runs.hpp"
#include "operator/stored.hpp"

namespace w8y::app::api {

namespace {

/// One who is looked for: at this host, then at all, then among those that have ended. An id that
/// is found as a whole ends it.
class Finder : public std::enable_shared_from_this<Finder> {
 public:
  Finder(const Routes& routes, const SoughtRun& run, std::function<void(FoundRun)> then)
      : routes_(routes),
        start_(run.start),
        list_(run.list),
        trusted_(run.trusted),
        then_(std::move(then)) {}

  void look_here() {
    const HostStatus host = routes_.control.status();
    host_ = host.host;
    host_id_ = host.host_id;
    const WallTime now = wall_time();
    routes_.control.each_list(
        [self = shared_from_this(), now](const ListStatus& list) {
          for (const RunStatus& run : list.runs)
            if (std::string_view(run.run).starts_with(self->start_))
              self->add({list.prefix, run, std::max(WallTime{0}, now - run.started), {}, {}, {}},
                        self->host_, self->host_id_);
        },
        [self = shared_from_this()] {
          if (self->is_settled()) return self->tell();
          self->ask_fleet();
        });
  }

 private:
  void add(view::RunView run, const std::string& host, const std::string& host_id) {
    const std::string id(std::string_view(run.status.run));
    if (!id.starts_with(start_) || (!list_.empty() && run.list != list_)) return;
    run.host = host;
    run.host_id = host_id;
    going_on_.try_emplace(id, std::move(run));
  }
  [[nodiscard]] bool is_settled() const { return going_on_.contains(start_); }

  void ask_fleet() {
    FleetOrder order;
    order.kind = OrderKind::runs;
    order.run = start_;
    routes_.fleet.give(std::move(order), [self = shared_from_this()](const FleetOutcome& outcome) {
      self->take(outcome);
      if (self->is_settled()) return self->tell();
      self->look_back();
    });
  }

  /// Who did not answer may run it.
  void take(const FleetOutcome& outcome) {
    for (const FleetAnswer& host : outcome.answers)
      for (const view::RunView& run : host.runs) add(run, host.host, host.host_id);
    if (!outcome.trouble.empty())
      missing_ = "; other hosts could not be asked: " + escape(outcome.trouble);
    for (const auto& missing : outcome.missing)
      missing_ += (missing_.empty() ? "; not answered by: " : ", ") + escape_text(missing.host);
  }

  void look_back() {
    const auto finished = std::make_shared<std::optional<view::RunRecord>>();
    routes_.queries.run(
        [finished, start = start_, list = list_](verbs::QueryContext& query) {
          *finished = verbs::find_finished(query, list, start);
          return ops::HttpResponse{};
        },
        [self = shared_from_this(), finished](const ops::HttpResponse& response) {
          self->finished_ = std::move(*finished);
          if (response.status != 200) {
            self->trouble_ = error_in(response);
            self->trouble_status_ = response.status;
          }
          self->tell();
        },
        trusted_);
  }

  /// A run that has just ended may still be told by its host: then it has.
  void tell() {
    FoundRun found;
    if (finished_) going_on_.erase(finished_->run);
    const bool ended = finished_ && (finished_->run == start_ || going_on_.empty());
    if (ended) {
      found.finished = std::move(finished_);
    } else if (is_settled() || (going_on_.size() == 1 && !finished_ && trouble_.empty())) {
      found.going_on = is_settled() ? going_on_.at(start_) : going_on_.begin()->second;
      found.here = found.going_on->host_id == host_id_;
    } else if (!going_on_.empty() && trouble_.empty()) {
      found.status = conflict;
      found.why = "more than one run's id starts with " + escape_text(start_) + ": ";
      const char* gap = "";
      if (finished_) found.why += escape(finished_->run), gap = ", ";
      for (const auto& [id, run] : going_on_) found.why += std::exchange(gap, ", ") + escape(id);
    } else if (!trouble_.empty()) {
      found.status = trouble_status_;
      found.why = trouble_;
    } else {
      found.why = "there is no run " + escape_text(start_) +
                  ": it is not going on, and not in the history" + missing_;
    }
    then_(std::move(found));
  }

  const Routes routes_;
  const std::string start_;
  const std::string list_;
  const bool trusted_;
  const std::function<void(FoundRun)> then_;
  std::string host_;
  std::string host_id_;
  std::map<std::string, view::RunView> going_on_;  ///< by id
  std::optional<view::RunRecord> finished_;
  std::string missing_;
  std::string trouble_;
  unsigned trouble_status_ = 0;
};

}  // namespace

std::string FoundRun::id() const {
  if (going_on) return std::string(std::string_view(going_on->status.run));
  return finished ? finished->run : "";
}

void find_run(const Routes& routes, const SoughtRun& run, std::function<void(FoundRun)> then) {
  const std::string id = verbs::run_id_of(run.start);
  if (id.empty()) {
    FoundRun found;
    found.status = bad_request;
    found.why = "a run id, or the start of one, is not empty";
    return then(std::move(found));
  }
  std::make_shared<Finder>(routes, SoughtRun{id, run.list, run.trusted}, std::move(then))
      ->look_here();
}

}  // namespace w8y::app::api
