// Cancels a run on any host.
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/host_commands.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/changes.hpp"

namespace w8y::ctl {

namespace {

class Cancel final : public Command {
 public:
  void declare(Arguments& words) override {
    words.one("RUN-ID", "The run, or the start of its ID", run_);
    words.flag("--quarantine", "Keep its item from running until released", quarantine_);
    declare_reason(words, reason_);
    words.then([this] {
      if (!reason_.empty() && !quarantine_)
        throw Failure(wrong_usage,
                      "--reason needs --quarantine: it is the reason of the quarantine");
    });
  }

  int run(const Options& options, Context& context) override {
    verbs::RunMatches matches(run_, std::nullopt);
    FleetAccess fleet(options, context);
    if (options.redis_url.empty()) context.host();  // throws if its address is not known
    context.add_here(matches);
    if (!matches.settled()) search_fleet(matches, context, fleet);
    const verbs::FoundRun& found = matches.only();
    if (!found.active || found.finished) throw Failure(refused, where_it_is(matches.id(), found));
    const view::RunView& run = *found.active;
    if (quarantine_) {
      context.refuse_other_formats();
      verbs::QueryContext query = context.query();
      verbs::request_quarantine(query, run, {operator_name(), reason_, wall_now()});
    }
    if (!run.host_id.empty()) {
      FleetCommand order;
      order.kind = FleetCommandKind::cancel;
      order.host = run.host_id;
      order.run = run.status.run;
      return print_fleet_result(options, fleet.send(std::move(order)));
    }
    core::AsciiObject body;
    body.put_bytes("run", matches.id());
    return print_result(options,
                        context.host().send_command(FleetCommandKind::cancel, body.finish()));
  }

 private:
  /// Searches beyond this host. Runs of this host can be cancelled while Redis is unavailable.
  static void search_fleet(verbs::RunMatches& matches, Context& context, FleetAccess& fleet) {
    // If the fleet is not reachable, locks name the holders of items.
    fleet.add_runs(matches);
    if (matches.settled()) return;
    try {
      verbs::QueryContext query = context.query();
      matches.add_held(query);
      if (matches.empty()) matches.add_finished(query);
    } catch (const verbs::RedisError&) {
      if (matches.empty()) throw;
    }
  }

  [[nodiscard]] std::string where_it_is(const std::string& run,
                                        const verbs::FoundRun& found) const {
    if (found.finished)
      return "run " + escape(run) + " has ended at " +
             time_text(found.finished->ended.value_or(WallTime{0})) + " on host " +
             escape_text(found.finished->host) + ": " + escape(found.finished->outcome);
    const view::ItemView& item = *found.held;
    return "run " + escape(run) + ": no host reports it, but host " + escape_text(item.host) +
           " (pid " + escape(item.pid) + ") holds item " + item_text(item.shown()) + " of " +
           escape_text(found.list) + "; on that host, run: w8yctl cancel " + shell_argument(run) +
           (quarantine_ ? " --quarantine" : "") + ", or wait until the lock expires";
  }

  std::string run_;
  bool quarantine_ = false;
  std::string reason_;
};

}  // namespace

const CommandMaker make_cancel = new_command<Cancel>;

}  // namespace w8y::ctl
