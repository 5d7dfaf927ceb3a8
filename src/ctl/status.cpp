// Shows a summary of the fleet and of this host, or of one host; problems first.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "view/fleet_lists.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

/// Returns whether Redis is available, or not needed.
bool redis_usable(const HostStatus& host) {
  return !host.has_redis || (host.redis.connected && host.redis.error.empty());
}

constexpr const char* without_redis =
    "none in the config: no history of runs, no pauses, and this host is in no fleet";

/// Returns "2 of 2 lists connected, 5 jobs here".
std::string gearman_text(const GearmanStatus& server) {
  std::string text = escape(server.server) + ", " + std::to_string(server.connected) + " of " +
                     std::to_string(server.lists) + " lists connected";
  if (server.jobs > 0)
    text += ", " + std::to_string(server.jobs) + (server.jobs == 1 ? " job here" : " jobs here");
  if (!server.error.empty())
    text += "; since " + time_text(server.away_since.value_or(WallTime{0})) + ": " +
            escape(server.error);
  return text;
}

std::string redis_text(const RedisStatus& redis) {
  std::string text = escape(redis.url) + (redis.connected ? ", connected" : ", not connected");
  if (redis.error.empty()) return text;
  return text + (redis.connected ? ", unavailable: " : ": ") + escape(redis.error);
}

/// Returns the number of leases, of lost leases, and the lease margin.
std::string locks_text(const RedisStatus& redis, const HereTotals& totals) {
  std::string text = std::to_string(redis.leases) + " held";
  if (totals.lost_now > 0) text += "; " + std::to_string(totals.lost_now) + " lost now";
  if (totals.leases_lost > totals.lost_now) {
    const std::uint64_t back = totals.leases_lost - totals.lost_now;
    text += "; " + std::to_string(back) + (back == 1 ? " was" : " were") +
            " lost since the start, then regained or ended";
  }
  if (redis.lease_margin && *redis.lease_margin >= Duration{0})
    text += "; lease margin at least " + rough_duration(*redis.lease_margin);
  return text;
}

/// Returns "3: 2 running, 1 idle".
std::string states_text(std::size_t all, const std::map<std::string, std::size_t>& states) {
  std::string text = std::to_string(all);
  const char* gap = ": ";
  for (const auto& [state, count] : states) {
    text += gap + std::to_string(count) + " " + escape(state);
    gap = ", ";
  }
  return text;
}

/// Returns "3, 2 of 8 slots".
std::string running_text(std::size_t running, std::size_t used, std::size_t limit) {
  std::string text = std::to_string(running);
  if (limit > 0) text += ", " + std::to_string(used) + " of " + std::to_string(limit) + " slots";
  return text;
}

void add_fleet(KeyValueTable& facts, const FleetSummary& fleet) {
  std::size_t hosts = 0;
  for (const auto& [state, count] : fleet.host_states) hosts += count;
  facts.add("hosts", states_text(hosts, fleet.host_states));
  facts.add("running", running_text(fleet.running, fleet.slots_used, fleet.slots_limit));
  facts.add("lists", states_text(fleet.lists, fleet.states));
  add_omitted(facts, fleet);
}

void print_status(const JsonFields& answer, const HostStatus& host,
                  const std::vector<ShownProblem>& problems, bool wide) {
  const auto here = answer.object("here");
  const HereTotals totals = here ? read_here_totals(*here) : HereTotals();
  KeyValueTable facts;
  add_problems(facts, problems);
  if (const auto fleet = answer.object("fleet")) add_fleet(facts, read_fleet_summary(*fleet));
  facts.add("host here", escape(host.host) + ", pid " + std::to_string(host.pid) + ", w8yd " +
                             escape(host.version));
  const std::string state = state_name(host.state);
  facts.add("state here", {state + ", up " + since(host.started), shaded(state).colour});
  facts.add("config here",
            escape(host.config_hash) + ", generation " + std::to_string(host.generation));
  if (!host.last_reload.empty())
    facts.add("reload here", time_text(host.last_reload_at) + ": " + escape(host.last_reload));
  facts.add("redis", host.has_redis ? redis_text(host.redis) : without_redis);
  for (const GearmanStatus& server : host.gearman) facts.add("gearman", gearman_text(server));
  facts.add("running here", running_text(totals.running, host.slots_used, host.slots_limit));
  if (host.has_redis) facts.add("locks here", locks_text(host.redis, totals));
  facts.add("lists here", states_text(totals.lists, totals.states));
  facts.print(wide);
}

/// Prints a host as its heartbeat and its list reports describe it.
void print_host(const FleetHost& host, WallTime now, const std::vector<ShownProblem>& problems,
                bool wide) {
  const HostHeartbeat& heartbeat = host.heartbeat;
  KeyValueTable facts;
  add_problems(facts, problems);
  facts.add("host", escape_text(heartbeat.host) + ", pid " + std::to_string(heartbeat.pid) +
                        ", w8yd " + escape(heartbeat.version));
  std::string state = host.state();
  if (!host.error.empty()) state += ": " + escape(host.error);
  facts.add("state", {state, shaded(host.state()).colour});
  facts.add("heartbeat", rough_duration(std::max(WallTime{0}, now - host.last_heartbeat)) + " ago");
  facts.add("config",
            escape(heartbeat.config_hash) + ", generation " + std::to_string(heartbeat.generation));
  std::map<std::string, std::size_t> states;
  for (const ListStatus& list : host.lists) ++states[state_name(list.state)];
  std::string slots = std::to_string(heartbeat.slots_used);
  if (heartbeat.slots_limit > 0) slots += " of " + std::to_string(heartbeat.slots_limit);
  facts.add("slots", slots + " in use");
  facts.add("lists", states_text(host.lists.size(), states));
  facts.print(wide);
}

/// Returns the problems of this host, and those of the fleet that are not about this host.
std::vector<ShownProblem> all_problems(const JsonFields& answer, const HostStatus& host,
                                       FleetAccess& fleet) {
  std::vector<ShownProblem> problems = read_problems(answer);
  if (!host.has_redis || !redis_usable(host)) return problems;
  try {
    std::vector<ShownProblem> of_fleet = fleet.problems();
    limit_per_kind(of_fleet);
    for (ShownProblem& problem : of_fleet)
      if (problem.host != host.host) problems.push_back(std::move(problem));
  } catch (const Failure& failure) {
    problems.push_back({"fleet", {}, "the fleet cannot be read: " + std::string(failure.what())});
  }
  return problems;
}

class Status final : public Command {
 public:
  void declare(Arguments& words) override {
    words.flag("--check", "Print only problems; exit 1 if one is not by an operator", check_);
    words.option("--host", "HOST", "the name of a host", "Only this host, as it reports itself",
                 host_);
  }

  int run(const Options& options, Context& context) override {
    if (!host_.empty()) return show_host(options, context);
    // There may be 10,000 lists; only JSON contains each of them.
    std::optional<std::string_view> lists;
    if (!options.json) lists = "count";
    const JsonFields answer =
        context.host().request(api::endpoints::status.target({}, {{"lists", lists}}));
    const HostStatus host = view::read_host(answer);
    if (options.json && !check_) {
      print_json(answer);
      return redis_usable(host) ? done : not_reachable;
    }
    FleetAccess fleet(options, context);
    const std::vector<ShownProblem> problems = all_problems(answer, host, fleet);
    if (!check_) {
      print_status(answer, host, problems, options.wide);
      return redis_usable(host) ? done : not_reachable;
    }
    for (const ShownProblem& problem : problems) print_line(outcome_text(problem.text));
    if (!redis_usable(host)) return not_reachable;
    return std::ranges::all_of(problems, is_by_operator) ? done : refused;
  }

 private:
  int show_host(const Options& options, Context& context) const {
    FleetAccess access(options, context);
    FleetView fleet = access.read_host(host_);
    std::vector<ShownProblem> problems = access.problems();
    std::erase_if(problems, [this](const ShownProblem& problem) { return problem.host != host_; });
    if (check_) {
      for (const ShownProblem& problem : problems) print_line(outcome_text(problem.text));
      return std::ranges::all_of(problems, is_by_operator) ? done : refused;
    }
    if (options.json) {
      print_json(view::to_json(std::move(fleet.hosts.front()), true));
    } else {
      print_host(fleet.hosts.front(), fleet.now, problems, options.wide);
    }
    return done;
  }

  bool check_ = false;
  std::string host_;
};

}  // namespace

const CommandMaker make_status = new_command<Status>;

}  // namespace w8y::ctl
