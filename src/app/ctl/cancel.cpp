// Ends a run, on whichever host.
#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/orders.hpp"
#include "app/ctl/run_search.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "app/ctl/who.hpp"
#include "store/circular/item_changes.hpp"
#include "store/schedule/changes.hpp"
#include "store/thoonk/job_feed.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

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
    Json body = Json::object();
    ops::put_bytes(body, "run", search.id());
    return tell(options, context.host().order("/api/v1/cancel", body));
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
                       const Json& run) {
    if (quarantine_) quarantine(context, run);
    FleetOrder order;
    order.kind = OrderKind::cancel;
    order.host = raw_in(run, "host_id");
    order.run = raw_in(run, "run");
    return tell_fleet(options, fleet.give(std::move(order)));
  }

  /// Before the run is ended, so that nobody takes the item up in between.
  void quarantine(Context& context, const Json& run) const {
    const auto list = ops::get_bytes(run, "list");
    const auto item = ops::get_bytes(run, "item");
    if (!list || !item) throw Failure(refused, "w8yd does not say which item it is");
    if (context.kind_of(*list) == SourceKind::schedule) return stop(context, run, *list, *item);
    if (context.kind_of(*list) == SourceKind::job) return stall(context, run, *list, *item);
    store::ItemChanges changes(context.redis(), context.keys(*list));
    const store::QuarantineNote note{{}, who_we_are(), reason_, wall_now()};
    // w8yd tells the beginning of a long item, and the run's lock which it is.
    const bool done =
        run.contains("item_length")
            ? !changes.quarantine_long(raw_in(run, "run"), note).empty()
            : changes.quarantine({*item}, note).front() != store::QuarantinedAs::not_listed;
    if (!done)
      throw Failure(refused, "item " + item_in(run) + " is not in the list " + escape_text(*list) +
                                 " any more, and can't be quarantined");
  }

  /// A job of a schedule is parked by its schedule.
  static void stop(Context& context, const Json& run, const std::string& list, const Item& job) {
    if (run.contains("item_length"))
      throw Failure(refused,
                    "the job is too long to be named here; set it to STOP first, by: "
                    "w8yctl schedule -k " +
                        escape_text(list) + " set");
    store::ScheduleChanges(context.redis(), store::ScheduleKeys(list))
        .set({{job, "STOP", store::StopJob{}}});
  }

  /// A job of a feed is parked by being stalled, when its run ends.
  static void stall(Context& context, const Json& run, const std::string& feed, const Item& job) {
    if (run.contains("item_length"))
      throw Failure(refused,
                    "the id of the job is too long to be named here; cancel its run, and "
                    "stall it with: w8yctl job stall " +
                        escape_text(feed));
    if (!store::JobFeed({context.redis(), false}, feed).stall_at_end(job, raw_in(run, "run")))
      throw Failure(refused, "the job " + item_in(run) + " of the feed " + escape_text(feed) +
                                 " is not claimed by that run any more");
  }

  [[nodiscard]] std::string where_it_is(const std::string& run,
                                        const RunSearch::Found& found) const {
    if (found.elsewhere)
      return "run " + escape(run) + " goes on at host " + escape_text(found.elsewhere->item.host) +
             " (pid " + escape(found.elsewhere->item.pid) + "), for item " +
             item_text(found.elsewhere->item.shown()) + " of " +
             escape_text(found.elsewhere->list) + "; on that host, run: w8yctl cancel " +
             escape(run) + (quarantine_ ? " --quarantine" : "");
    return "run " + escape(run) + " has ended at " + time_text(found.finished->time("ended")) +
           " on host " + escape_text(found.finished->field("host")) + ": " +
           escape(found.finished->field("outcome"));
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
