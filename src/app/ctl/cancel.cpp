// Ends a run, on whichever host.
#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/orders.hpp"
#include "app/ctl/run_search.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "app/ctl/who.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "operator/changes.hpp"

namespace w8y::app::ctl {

namespace {

class Cancel final : public Command {
 public:
  void declare(Words& words) override {
    words.one("RUN-ID", "The run, or the start of its id",
              [this](Word&& word) { run_ = std::move(word.text); });
    words.flag("--quarantine", "Keep its item from being run until it is released", quarantine_);
    declare_reason(words, reason_);
    words.then([this] {
      if (!reason_.empty() && !quarantine_)
        throw Failure(wrong_usage, "--reason needs --quarantine: it says why the item is kept");
    });
  }

  int run(const Options& options, Context& context) override {
    RunSearch search(context, run_, std::nullopt);
    FleetAccess fleet(options, context);
    if (options.redis_url.empty()) context.host();  // throws where nobody says where it is
    search.look_here();
    if (!search.settled()) look_further(search, fleet);
    const RunSearch::Found* found = search.only();
    if (found == nullptr)
      throw Failure(refused, "there is no run " + escape_text(run_) +
                                 ": it is not going on, and not in the history");
    if (!found->here && found->in_fleet)
      return cancel_elsewhere(options, context, fleet, *found->in_fleet);
    if (!found->here) throw Failure(refused, where_it_is(search.id(), *found));
    if (quarantine_) quarantine(context, *found->here);
    core::AsciiObject body(64);
    body.put_bytes("run", search.id());
    return tell(options, context.host().order("/api/v1/cancel", body.take()));
  }

 private:
  /// A run of this host can be ended while Redis is away.
  static void look_further(RunSearch& search, FleetAccess& fleet) {
    look_at_others(search, fleet);
    if (search.settled()) return;
    try {
      search.look_elsewhere();
      if (search.only() == nullptr) search.look_back();
    } catch (const redis::RedisError&) {
      if (search.only() == nullptr) throw;
    }
  }

  /// Where the fleet can't be asked, locks say who has which item.
  static void look_at_others(RunSearch& search, FleetAccess& fleet) {
    try {
      search.look_in_fleet(fleet);
    } catch (const Failure&) {
    }
  }

  int cancel_elsewhere(const Options& options, Context& context, FleetAccess& fleet,
                       const view::RunView& run) {
    if (quarantine_) quarantine(context, run);
    FleetOrder order;
    order.kind = OrderKind::cancel;
    order.host = run.host_id;
    order.run = run.status.run;
    return tell_fleet(options, fleet.give(std::move(order)));
  }

  /// Before the run is ended, so that nobody takes the item up in between.
  void quarantine(Context& context, const view::RunView& run) const {
    verbs::park(context.redis(), run, context.kind_of(run.list), context.keys(run.list),
                {{}, who_we_are(), reason_, wall_now()});
  }

  [[nodiscard]] std::string where_it_is(const std::string& run,
                                        const RunSearch::Found& found) const {
    if (found.elsewhere)
      return "run " + escape(run) + " goes on at host " + escape_text(found.elsewhere->item.host) +
             " (pid " + escape(found.elsewhere->item.pid) + "), for item " +
             item_text(found.elsewhere->item.shown()) + " of " +
             escape_text(found.elsewhere->list) + "; on that host, run: w8yctl cancel " +
             escape(run) + (quarantine_ ? " --quarantine" : "");
    return "run " + escape(run) + " has ended at " +
           time_text(found.finished->ended.value_or(WallTime{0})) + " on host " +
           escape_text(found.finished->host) + ": " + escape(found.finished->outcome);
  }

  std::string run_;
  bool quarantine_ = false;
  std::string reason_;
};

}  // namespace

CommandPtr make_cancel() {
  return std::make_unique<Cancel>();
}

}  // namespace w8y::app::ctl
