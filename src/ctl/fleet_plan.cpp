// Prints the changes that a new config would cause on each host of the fleet.
#include "view/fleet_plan.hpp"

#include <algorithm>
#include <iostream>
#include <optional>

#include "config/loading.hpp"
#include "core/config.hpp"
#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/text.hpp"
#include "executor/executor_factory.hpp"

namespace w8y::ctl {

namespace {

/// New config as hosts would read it. Parsed once, if all hosts read it alike.
class PlannedConfig {
 public:
  explicit PlannedConfig(std::string path) : path_(std::move(path)) {}

  const Config& of(const HostHeartbeat& host) {
    if (config_ && (same_for_all_ || (host.host == host_ && host.processors == processors_)))
      return *config_;
    config_ = config::load_as(path_, host.host, host.processors, printed_);
    host_ = host.host;
    processors_ = host.processors;
    same_for_all_ = config_->host_hashes.empty() &&
                    std::all_of(config_->lists.begin(), config_->lists.end(), [](const auto& list) {
                      return !list.second->depends_on_processors();
                    });
    return *config_;
  }

 private:
  const std::string path_;
  config::PrintedLists printed_;
  std::optional<Config> config_;
  std::string host_;
  unsigned processors_ = 0;
  bool same_for_all_ = false;
};

std::string plan_json(const FleetHost& host, const HostPlan& plan) {
  core::AsciiObject json;
  json.put_bytes("host", host.heartbeat.host);
  json.put_bytes("host_id", host.heartbeat.id);
  json.put("state", host.state());
  json.put("error", host.error);
  json.put("same", plan.same);
  json.put_json("changes", view::texts_json(plan.changes.lines()));
  json.put_json("lists", core::json_array(plan.verdicts, [](const ListVerdict& verdict) {
                  core::AsciiObject list;
                  list.put_bytes("list", verdict.prefix);
                  list.put("verdict", verdict_name(verdict.kind));
                  list.put("reason", verdict.why);
                  list.put("changed", verdict.changed);
                  return list.finish();
                }));
  return json.finish();
}

void print_plan(const FleetHost& host, const HostPlan& plan) {
  const std::string name = escape_text(host.heartbeat.host) + ": ";
  if (!host.error.empty()) {
    std::cout << name << "its config is not known: " << escape(host.error) << '\n';
    return;
  }
  if (host.unresponsive)
    std::cout << name << "unresponsive: the plan is from its last list reports\n";
  if (!host.lists_error.empty())
    std::cout << name << "some of its lists are not known: " << escape(host.lists_error) << '\n';
  if (plan.same) {
    std::cout << name << "has this config\n";
    return;
  }
  const auto lines = plan.lines();
  if (lines.empty())
    std::cout << name << "no list, limit or program would change; other settings may\n";
  for (const auto& line : lines) print_line(name + line);
}

class FleetPlan final : public Command {
 public:
  void declare(Arguments& words) override { words.one("FILE", "The new config file", file_); }

  int run(const Options& options, Context& context) override {
    if (file_ == "-")
      throw Failure(wrong_usage,
                    "fleet plan reads the file once for each host: use a file, not standard input");
    PlannedConfig planned(file_);
    check(planned);
    FleetAccess access(options, context);
    core::JsonArray hosts;
    bool any = false;
    access.each_part(true, std::nullopt, [&](FleetView&& fleet) {
      any = any || !fleet.hosts.empty();
      if (!options.json && !any)
        std::cout << "no host is in the fleet " << escape_text(fleet.fleet) << '\n';
      for (const FleetHost& host : fleet.hosts)
        plan_for(host, planned, options.json ? &hosts : nullptr);
    });
    if (options.json) {
      core::AsciiObject json;
      json.put("file", file_);
      json.put_json("hosts", hosts.finish());
      print_json(json.finish());
    }
    return done;
  }

 private:
  /// Adds the plan of a host to `json`, an array of hosts; without one, prints it.
  static void plan_for(const FleetHost& host, PlannedConfig& planned, core::JsonArray* json) {
    HostPlan plan;
    if (host.error.empty()) plan = plan_host(host, planned.of(host.heartbeat), executor::why_not);
    if (json != nullptr) {
      json->add(plan_json(host, plan));
    } else {
      print_plan(host, plan);
    }
  }
  /// Reports config errors that do not depend on the host.
  void check(PlannedConfig& planned) const {
    try {
      HostHeartbeat here;
      here.host = system_config_host().hostname();
      here.processors = 1;
      planned.of(here);
    } catch (const ConfigError& error) {
      throw wrong_config(error);
    }
  }

  std::string file_;
};

}  // namespace

const CommandMaker make_fleet_plan = new_command<FleetPlan>;

}  // namespace w8y::ctl
