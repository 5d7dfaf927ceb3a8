#include "api/run_finder.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/parameters.hpp"
#include "api/query_at.hpp"

namespace w8y::api {

namespace {

/// Maximum number of run records to read in search of one run.
constexpr std::size_t max_read = 50'000;

using Found = std::function<void(const verbs::FoundRun&, const std::string& id)>;

/// Searches this host, then all hosts, then the history. Stops at a run with exactly the given ID.
class Finder : public std::enable_shared_from_this<Finder> {
 public:
  Finder(const Routes& routes, const SoughtRun& run, Found found)
      : routes_(routes),
        matches_(std::make_shared<verbs::RunMatches>(run.start, run.list)),
        reply_(run.reply),
        found_(std::move(found)) {}

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
          for (const auto* runs : {&list.runs, &list.settling})
            for (const RunStatus& run : *runs)
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
          self->reply_->send(response);
        },
        reply_->trusted());
  }

  void reply_found() {
    try {
      found_(matches_->only(), matches_->id());
    } catch (const verbs::QueryError& refusal) {
      send_refusal(reply_, refusal);
    }
  }

  const Routes routes_;
  /// Shared with the query, which may outlive this object.
  const std::shared_ptr<verbs::RunMatches> matches_;
  const http::HttpReplyPtr reply_;
  const Found found_;
  unsigned used_ = 0;  ///< runs with their resource use
};

}  // namespace

void find_run(const Routes& routes, const SoughtRun& run, Found found) {
  std::make_shared<Finder>(routes, run, std::move(found))->search_here();
}

}  // namespace w8y::api
