// Runs an item now, despite its delay, on a host with a free slot; or makes it the next item.
#include <algorithm>
#include <string>
#include <vector>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/status.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "operator/changes.hpp"
#include "operator/item_changes.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

/// Host that may run an item of the list.
struct Runner {
  std::string host;
  std::string id;
  bool here = false;
  std::int64_t room = 0;  ///< free slots, as far as known
};

/// Returns the hosts that serve the list: this host first, then by free slots.
std::vector<Runner> runners_of(const FleetView& fleet, const std::string& here) {
  std::vector<Runner> runners;
  for (const FleetHost& host : fleet.hosts) {
    if (std::string_view(host.state()) != state_name(HostState::running)) continue;
    for (const ListStatus& list : host.lists) {
      if (list.state == ListState::ineligible || list.state == ListState::disabled) continue;
      runners.push_back({host.heartbeat.host, host.heartbeat.id, host.heartbeat.id == here,
                         std::int64_t{list.concurrency} - static_cast<std::int64_t>(list.running)});
    }
  }
  std::stable_sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) {
    return a.here != b.here ? a.here : a.room > b.room;
  });
  return runners;
}

class RunItem final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix(words, "The list", prefix_);
    item_.declare(words);
    words.flag("--next", "Make it the next item to be claimed, also in a busy list", next_);
    words.then([this] {
      if (item_.items.size() > 1) throw Failure(wrong_usage, "run accepts only one ITEM");
    });
  }

  int run(const Options& options, Context& context) override {
    verbs::QueryContext query = context.query_items(prefix_);
    verbs::check_known(query, prefix_);
    const verbs::KindVerbs& kind = verbs::verbs_of(verbs::kind_or_default(query, prefix_));
    if (kind.run_job == nullptr)
      return next_ ? move_first(options, query) : run_item(options, context, query);
    const verbs::RunJobResult result = kind.run_job(query, prefix_, item_.items.front(), next_);
    if (!result.done) throw Failure(refused, result.text);
    print(options, result.text, {}, {});
    return done;
  }

 private:
  int run_item(const Options& options, Context& context, verbs::QueryContext& query) {
    FleetAccess fleet(options, context);
    const auto status = context.try_request(api::endpoints::status_of_host());
    const std::string here = status ? view::read_host(*status).host_id : "";
    const std::vector<Runner> runners = runners_of(fleet.read(true, prefix_), here);
    if (runners.empty())
      throw Failure(refused, "no host serves " + escape_text(prefix_) +
                                 " now; to see why: w8yctl why " + shell_argument(prefix_));
    std::vector<std::string> others;
    for (const Runner& runner : runners)
      if (const auto why = request(options, fleet, runner)) {
        others.push_back(escape_text(runner.host) + ": " + *why);
      } else {
        if (!fleet.uses_w8yd())  // which records the operator
          verbs::record_changes(query, prefix_, "started", {item_.items.front()});
        return done;
      }
    others.push_back("to make it the next to be claimed: w8yctl run --next " +
                     shell_argument(prefix_) + " " + shell_item(item_.items.front()));
    throw Failure(refused, "no host that serves " + escape_text(prefix_) + " can run it now",
                  std::move(others));
  }

  int move_first(const Options& options, verbs::QueryContext& query) const {
    const verbs::ChangedItem moved = verbs::move_first(query, prefix_, item_.items.front());
    if (!moved.done) throw Failure(refused, item_text(moved.item) + ": " + moved.result);
    print(options, item_text(moved.item) + " " + moved.result, {}, {});
    return done;
  }

  /// Sends the command to one host. Returns nullopt if the run has started, otherwise why this host
  /// cannot start it. Throws a Failure if other hosts would refuse the run as well.
  std::optional<std::string> request(const Options& options, FleetAccess& fleet,
                                     const Runner& runner) const {
    FleetCommand order;
    order.kind = FleetCommandKind::run;
    order.host = runner.id;
    order.list = prefix_;
    order.item = item_.items.front();
    FleetCommandResult answer;
    try {
      answer = fleet.send(std::move(order));
    } catch (const Failure& failure) {
      return std::string(failure.what());  // it has left the fleet
    }
    for (const FleetReply& host : answer.replies) {
      const std::string text = escape(host.text);
      if (host.result == "done") {
        print(options, text + " on " + escape_text(runner.host), host.run, runner.host);
        return std::nullopt;
      }
      if (host.result == "unavailable" || host.result == "not_found") return text;
      throw Failure(refused, text);
    }
    // The host may still have started the run, so no other host gets the command.
    throw Failure(refused, escape_text(runner.host) +
                               " did not reply within 2s; to see whether it started: w8yctl why " +
                               shell_argument(prefix_) + " " + shell_item(item_.items.front()));
  }

  void print(const Options& options, const std::string& text, const std::string& run,
             const std::string& host) const {
    if (!options.json) {
      print_line(text);
      return;
    }
    core::AsciiObject json;
    json.put("result", "done");
    json.put("text", text);
    if (!run.empty()) json.put("run", run);
    if (!host.empty()) json.put_bytes("host", host);
    print_json(json.finish());
  }

  static constexpr std::size_t item_told = 128;

  std::string prefix_;
  ItemArguments item_;
  bool next_ = false;
};

}  // namespace

const CommandMaker make_run = new_command<RunItem>;

}  // namespace w8y::ctl
