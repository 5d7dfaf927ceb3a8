// Lists all hosts, with their lists and runs.
#include <algorithm>
#include <iostream>
#include <optional>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

/// Digits of a hash, enough to distinguish two configs.
constexpr std::size_t hash_shown = 8;

std::string ago_text(WallTime time, WallTime now) {
  return time.count() == 0 ? std::string()
                           : rough_duration(std::max(WallTime(0), now - time)) + " ago";
}

std::string margin_text(const std::optional<WallTime>& margin) {
  if (!margin) return {};
  return margin->count() < 0 ? "-" + rough_duration(-*margin) : rough_duration(*margin);
}

Cell config_cell(const FleetHost& host, WallTime now) {
  const HostHeartbeat& heartbeat = host.heartbeat;
  if (heartbeat.config_hash.empty()) return "";
  const std::string text = "#" + std::to_string(heartbeat.generation) + " " +
                           escape(heartbeat.config_hash).substr(0, hash_shown) + ", " +
                           ago_text(heartbeat.applied, now);
  if (host.config_outdated) return {text + ", outdated", Colour::bad};
  return text;
}

std::string slots_text(const HostHeartbeat& heartbeat) {
  const std::string used = std::to_string(heartbeat.slots_used);
  return heartbeat.slots_limit > 0 ? used + "/" + std::to_string(heartbeat.slots_limit) : used;
}

/// Returns facts about a host that are not in the columns.
std::string fleet_note_text(const FleetHost& host) {
  std::string note = escape(host.error);
  const auto add = [&note](const std::string& more) { note += (note.empty() ? "" : "; ") + more; };
  if (host.duplicate_name) add("another host has this name: " + escape_text(host.heartbeat.id));
  if (!host.lists_error.empty()) add(escape(host.lists_error));
  return note;
}

void print_fleet_hosts(const FleetView& fleet, bool wide) {
  Table table({"HOST",
               "STATE",
               "CONFIG",
               "VERSION",
               "HEARTBEAT",
               "SLOTS",
               "LEASE MARGIN",
               {"NOTE", may_be_cut}});
  for (const FleetHost& host : fleet.hosts) {
    Cell state = shaded(host.state());
    if (host.unresponsive)
      state = Cell("unresponsive since " + ago_text(host.last_heartbeat, fleet.now), Colour::bad);
    table.add({escape_text(host.heartbeat.host), state, config_cell(host, fleet.now),
               escape(host.heartbeat.version), ago_text(host.last_heartbeat, fleet.now),
               slots_text(host.heartbeat), margin_text(host.heartbeat.lease_margin),
               fleet_note_text(host)});
  }
  table.print(wide);
  if (fleet.truncated) std::cout << "not all hosts are shown\n";
}

void print_fleet_lists(const FleetView& fleet, bool wide) {
  Table table(
      {"HOST", "LIST", "STATE", "RUNNING", {"CAPABILITIES", may_be_cut}, {"REASON", may_be_cut}});
  for (const FleetHost& host : fleet.hosts)
    for (const ListStatus& list : host.lists)
      table.add({escape_text(host.heartbeat.host), escape_text(list.prefix),
                 shaded(state_name(list.state)), running_of_limits(list),
                 capabilities_text(list.caps), outcome_text(list.why)});
  if (table.empty()) return;
  std::cout << '\n';
  table.print(wide);
}

void print_fleet_runs(const FleetCommandResult& outcome, bool wide) {
  Table table({"HOST", "LIST", {"ITEM", may_be_cut}, "RUN", "AGE", "PROGRESS"});
  for (const FleetReply& host : outcome.replies)
    for (const view::RunView& run : host.runs)
      table.add({escape_text(host.host), escape_text(run.list), item_text(run.status.item),
                 escape(run.status.run), rough_duration(run.age.value_or(WallTime{0})),
                 progress_text(run.status.progress)});
  std::cout << '\n';
  if (table.empty()) {
    std::cout << "no active runs\n";
  } else {
    table.print(wide);
  }
  for (const FleetReply& host : outcome.replies)
    if (host.omitted_runs > 0)
      std::cout << escape_text(host.host) << ": and " << host.omitted_runs << " more runs\n";
  for (const FleetCommandResult::NoReply& host : outcome.no_reply)
    std::cout << escape_text(host.host) << ": no reply, runs unknown\n";
}

/// Returns the JSON of GET /api/v1/fleet.
std::string to_json(FleetView&& fleet, bool lists, const std::optional<FleetCommandResult>& runs) {
  core::AsciiObject json(4096);
  view::put_fleet(json, fleet);
  const auto host_json = [lists](FleetHost& host) { return view::to_json(std::move(host), lists); };
  json.put_json("hosts", core::json_array(fleet.hosts, host_json));
  if (runs) json.put_json("runs", to_text(*runs));
  return json.finish();
}

class Fleet final : public Command {
 public:
  void declare(Arguments& words) override {
    words.flag("--runs", "Show the active runs of each host", runs_);
    words.flag("--no-lists", "Show only one line per host", no_lists_);
  }

  int run(const Options& options, Context& context) override {
    FleetAccess access(options, context);
    FleetView fleet = access.read(!no_lists_);
    std::optional<FleetCommandResult> runs;
    if (runs_) runs = access.send({});
    if (options.json) {
      print_json(to_json(std::move(fleet), !no_lists_, runs));
      return done;
    }
    if (fleet.hosts.empty()) {
      std::cout << "no host is in the fleet " << escape_text(fleet.fleet) << '\n';
      return done;
    }
    print_fleet_hosts(fleet, options.wide);
    if (!no_lists_) print_fleet_lists(fleet, options.wide);
    if (runs) print_fleet_runs(*runs, options.wide);
    return done;
  }

 private:
  bool runs_ = false;
  bool no_lists_ = false;
};

class FleetForget final : public Command {
 public:
  void declare(Arguments& words) override { words.one("HOST", "Name of the host", host_); }

  int run(const Options& options, Context& context) override {
    FleetAccess(options, context).forget(host_);
    if (options.json) {
      core::AsciiObject json(64);
      json.put_bytes("host", host_);
      json.put("result", "forgotten");
      print_json(json.finish());
    } else {
      std::cout << escape_text(host_) << ": forgotten\n";
    }
    return done;
  }

 private:
  std::string host_;
};

}  // namespace

const CommandMaker make_fleet_forget = new_command<FleetForget>;
const CommandMaker make_fleet = new_command<Fleet>;

}  // namespace w8y::ctl
