#include "api/run_finder.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/parameters.hpp"

namespace w8y::api {

namespace {

/// Maximum number of run records to read in search of one run.
constexpr std::size_t max_read = 50'000;

using Found = std::function<void(const verbs::FoundRun&, const std::string& id)>;
using Refused = std::function<void(const verbs::QueryError&)>;

/// Searches this host, then all hosts, then the history. Stops at a run with exactly the given ID.
class Finder : public std::enable_shared_from_this<Finder> {
 public:
  Finder(const Routes& routes, const SoughtRun& run, Found found, Refused refused)
      : routes_(routes),
        matches_(std::make_shared<verbs::RunMatches>(run.start, run.list)),
        trusted_(run.trusted),
        found_(std::move(found)),
        refused_(std::move(refused)) {}

  /// Returns the resource use of a run: of the first 8 runs only, since each one reads /proc.
  ResourceUse use_of(const RunStatus& run) {
    constexpr unsigned max_used = 8;
    if (run.pid <= 0 || used_++ >= max_used) return {};
    return routes_.control.process_use(run.pid);
  }

  void search_here() {
    const HostStatus host = routes_.control.status();
    routes_.control.each_list(
        [self = shared_from_this(), host, now = wall_time()](const ListStatus& list) {
          for (const RunStatus& run : list.runs)
            if (std::string_view(run.run).starts_with(self->matches_->start()))
              self->matches_->add({list.prefix,
                                   run,
                                   std::max(WallTime{0}, now - run.started),
                                   {},
                                   host.host,
                                   host.host_id,
                                   self->use_of(run)});
        },
        [self = shared_from_this()] {
          if (self->matches_->settled()) return self->reply_found();
          self->send_to_fleet();
        });
  }

 private:
  void send_to_fleet() {
    FleetCommand order;
    order.kind = FleetCommandKind::runs;
    order.run = matches_->start();
    routes_.fleet.send(std::move(order),
                       [self = shared_from_this()](const FleetCommandResult& outcome) {
                         self->matches_->add(outcome);
                         if (self->matches_->settled()) return self->reply_found();
                         self->search_history();
                       });
  }

  void search_history() {
    routes_.queries.run(
        [matches = matches_](verbs::QueryContext& query) {
          matches->add_finished(query, max_read);
          return http::HttpResponse{};
        },
        [self = shared_from_this()](const http::HttpResponse& response) {
          if (response.status == 200) return self->reply_found();
          self->refused_(verbs::QueryError(response.status, error_in(response)));
        },
        trusted_);
  }

  void reply_found() {
    try {
      found_(matches_->only(), matches_->id());
    } catch (const verbs::QueryError& refusal) {
      refused_(refusal);
    }
  }

  const Routes routes_;
  /// Shared with the query, which may outlive this object.
  const std::shared_ptr<verbs::RunMatches> matches_;
  const bool trusted_;
  const Found found_;
  const Refused refused_;
  unsigned used_ = 0;  ///< runs with their resource use
};

}  // namespace

void find_run(const Routes& routes, const SoughtRun& run, Found found, Refused refused) {
  try {
    std::make_shared<Finder>(routes, run, std::move(found), refused)->search_here();
  } catch (const verbs::QueryError& refusal) {
    refused(refusal);
  }
}

}  // namespace w8y::api
