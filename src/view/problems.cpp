#include "view/problems.hpp"

#include <algorithm>
#include <array>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/units.hpp"
#include "view/field.hpp"

namespace w8y {

namespace {

using Kind = Problem::Kind;

/// In the order of the kinds.
constexpr std::array kind_names = {"redis",        "format",          "gearman",     "unavailable",
                                   "unresponsive", "clock",           "write_error", "starved",
                                   "breaker_open", "quarantined",     "stalled",     "invalid",
                                   "died",         "failing",         "overdue",     "paused",
                                   "ineligible",   "config_outdated", "quiet",       "draining"};
static_assert(kind_names.size() == static_cast<std::size_t>(Kind::draining) + 1);

std::string number(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

bool is_served(ListState state) {
  return state != ListState::ineligible && state != ListState::disabled &&
         state != ListState::probing;
}

/// Returns the number of items in a state; 0 if it is not known.
std::uint64_t jobs_in_state(const ListStatus& list, std::string_view state) {
  if (!list.stats) return 0;
  for (const auto& [name, items] : list.stats->items)
    if (name == state) return items;
  return 0;
}

bool counts_items(Kind kind) {
  return kind == Kind::quarantined || kind == Kind::stalled || kind == Kind::invalid ||
         kind == Kind::died;
}

/// Returns whether Redis is available, or the config has none.
bool is_usable(const HostStatus& host) {
  return !host.has_redis || (host.redis.connected && host.redis.error.empty());
}

std::vector<Problem> of_host(const HostStatus& host, std::size_t waiting) {
  std::vector<Problem> found;
  const auto add = [&found](Kind kind, std::string text, std::size_t lists = 0) {
    Problem& problem = found.emplace_back();
    problem.kind = kind;
    problem.text = std::move(text);
    problem.lists = lists;
  };
  for (const GearmanStatus& server : host.gearman)
    if (!server.error.empty())
      add(Kind::gearman,
          "gearmand unavailable: " + escape(server.server) + ": " + escape(server.error));
  if (!is_usable(host))
    add(Kind::redis,
        "Redis unavailable: " +
            (host.redis.error.empty() ? "not connected yet" : escape(host.redis.error)) +
            (waiting == 0 ? "" : "; " + number(waiting, "list waits", "lists wait")),
        waiting);
  if (!host.format_conflict.empty())
    add(Kind::format, "host claims nothing: " + host.format_conflict);
  const auto jumped = host.redis.clock_jumped_at;
  if (jumped && host.now - *jumped < Problems::fresh) {
    const bool back = host.redis.clock_jump < Duration{0};
    const Duration by = back ? -host.redis.clock_jump : host.redis.clock_jump;
    add(Kind::clock, "the clock of Redis " + std::string(back ? "was set back" : "jumped ahead") +
                         " by " + rough_duration(by) + ", " + rough_duration(host.now - *jumped) +
                         " ago; " +
                         (back ? "delays and due times set while it was ahead are being corrected"
                               : "locks and delays ended early, so items may have run twice"));
  }
  if (host.last_reload_failed) {
    add(Kind::config_outdated, "the config file is not in force, since the last reload failed: " +
                                   escape(reload_error(host)) + "; generation " +
                                   std::to_string(host.generation) + " stays in force");
  }
  if (host.state == HostState::quiet)
    add(Kind::quiet, "host is quiet: starting no new runs until w8yctl resume");
  if (host.state == HostState::draining)
    add(Kind::draining, "host is draining: starting no new runs, exiting after the active ones");
  return found;
}

}  // namespace

std::string reload_error(const HostStatus& host) {
  constexpr std::string_view known = "failed: ";
  return host.last_reload.substr(host.last_reload.starts_with(known) ? known.size() : 0);
}

std::string joined(const std::vector<std::string>& parts, std::size_t all) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == all ? " and " : ", ";
    text += parts[i];
  }
  return all > parts.size() ? text + " and " + std::to_string(all - parts.size()) + " more" : text;
}

Problems::Problems(HostStatus host) : host_(std::move(host)) {}

void Problems::add(const ListStatus& list) {
  const bool usable = is_usable(host_);
  if (!usable && is_served(list.state)) ++waiting_;
  // For a list of Gearman, the servers report the reason.
  if (usable && host_.format_conflict.empty() && list.state == ListState::unavailable &&
      list.function.empty())
    add(Kind::unavailable, list.why, list);
  if (usable && !list.unwritten.empty()) add(Kind::write_error, list.unwritten, list);
  if (list.state == ListState::starved) add(Kind::starved, list.why, list);
  // In a fleet, another host may serve the list: FleetProblems.
  if (list.state == ListState::ineligible && !host_.has_redis)
    add(Kind::ineligible, list.why, list);
  if (list.breaker) {
    add(Kind::breaker_open, breaker_text(*list.breaker, host_.now), list);
  } else if (list.state == ListState::breaker_open) {
    add(Kind::breaker_open, "breaker open: " + list.why, list);
  }
  if (list.quarantined.value_or(0) > 0) add(Kind::quarantined, "", list, *list.quarantined);
  if (const std::uint64_t jobs = jobs_in_state(list, "stalled"); jobs > 0)
    add(Kind::stalled, "", list, jobs);
  if (const std::uint64_t jobs = jobs_in_state(list, "bad"); jobs > 0)
    add(Kind::invalid, "", list, jobs);
  if (const std::uint64_t jobs = jobs_in_state(list, "died"); jobs > 0)
    add(Kind::died, "", list, jobs);
  if (const std::string why = why_slow(list); !why.empty()) add(Kind::overdue, why, list);
  if (list.pause)
    add(Kind::paused, pause_text(*list.pause, host_.now), list);
  else if (list.state == ListState::paused)
    add(Kind::paused, list.why, list);
  add_failures(list);
}

void Problems::add(Kind kind, const std::string& why, const ListStatus& list, std::uint64_t count) {
  Cause& cause = causes_[{kind, why}];
  ++cause.lists;
  cause.count += count;
  if (cause.first.size() == max_named) return;
  cause.first.push_back(list.prefix);
  cause.of_first.push_back(count);
}

void Problems::add_failures(const ListStatus& list) {
  if (list.last_error.empty() || list.last_error_at + fresh < host_.now) return;
  const std::uint64_t failed = list.recent_failed;
  if (failed * 100 <= list.recent_runs * list.alert_failures) return;
  add(Kind::failing, list.last_error, list, failed);
  Cause& cause = causes_[{Kind::failing, list.last_error}];
  cause.of += list.recent_runs;
  cause.last = std::max(cause.last, list.last_error_at);
}

/// Returns "a and b", or for items "3 in a and 1 in b".
std::string Problems::names_of(Kind kind, const Cause& cause) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < cause.first.size(); ++i)
    shown.push_back((counts_items(kind) && cause.lists > 1
                         ? std::to_string(cause.of_first[i]) + " in "
                         : std::string()) +
                    escape_text(cause.first[i]));
  return joined(shown, cause.lists);
}

Problem Problems::problem_of(Kind kind, const std::string& why, const Cause& cause) const {
  Problem problem;
  problem.kind = kind;
  problem.lists = cause.lists;
  problem.first = cause.first;
  problem.count = cause.count;
  const std::string names = names_of(kind, cause);
  const auto counted = [&](const char* one, const char* many, const char* what) {
    return number(cause.count, one, many) + what + (cause.lists == 1 ? " in " : ": ") + names;
  };
  switch (kind) {
    case Kind::unavailable:
      problem.text = "Redis refuses claims from " + names;
      break;
    case Kind::write_error:
      problem.text = "Redis refuses part of the run records of " + names;
      break;
    case Kind::starved:
      problem.text = "host is short of resources for " + names;
      break;
    case Kind::quarantined:
      problem.text = counted("item is", "items are", " quarantined");
      break;
    case Kind::stalled:
      problem.text =
          counted("job is", "jobs are", " stalled") + "; run them again with \"w8yctl job retry\"";
      break;
    case Kind::invalid:
      problem.text = counted("job has", "jobs have", " an invalid schedule (status BAD)") +
                     "; set a valid one with \"w8yctl schedule -k KEY_PREFIX set\"";
      break;
    case Kind::died:
      problem.text = counted("job has", "jobs have", " failed for good (status DIE)") +
                     "; set the schedule again with \"w8yctl schedule -k KEY_PREFIX set\"";
      break;
    case Kind::failing:
      problem.text = std::to_string(cause.count) + " of " + number(cause.of, "run", "runs") +
                     " of " + names + " on this host failed within the last hour, the last one " +
                     rough_duration(host_.now - cause.last) + " ago";
      break;
    case Kind::breaker_open:
      problem.text = names;
      break;
    case Kind::overdue:
      problem.text = "items of " + names + " are overdue";
      break;
    case Kind::paused:
      problem.text = names + (cause.lists == 1 ? " is paused" : " are paused");
      break;
    default:
      problem.text = "host is ineligible for " + names;
  }
  if (!why.empty()) problem.text += ": " + escape(why);
  return problem;
}

std::vector<Problem> Problems::drain() {
  std::vector<Problem> all = of_host(host_, waiting_);
  std::map<Kind, std::size_t> position_text;
  std::map<Kind, Problem> others;
  for (const auto& [what, cause] : causes_) {
    const auto& [kind, why] = what;
    if (++position_text[kind] <= max_causes) {
      all.push_back(problem_of(kind, why, cause));
      continue;
    }
    Problem& rest = others[kind];
    rest.kind = kind;
    rest.lists += cause.lists;
    rest.count += cause.count;
  }
  for (auto& [kind, rest] : others) {
    rest.text = number(rest.lists, "more list is", "more lists are") + " " + kind_name(kind) +
                ", for " +
                number(position_text[kind] - max_causes, "other reason", "other reasons");
    all.push_back(std::move(rest));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Problem& a, const Problem& b) { return a.kind < b.kind; });
  causes_.clear();
  return all;
}

const char* kind_name(Kind kind) {
  return kind_names.at(static_cast<std::size_t>(kind));
}

std::string to_json(const Problem& problem) {
  core::AsciiObject json(256);
  json.put("kind", kind_name(problem.kind));
  if (!problem.host.empty()) json.put_bytes("host", problem.host);
  json.put("text", problem.text);
  json.put("lists", problem.lists);
  const auto list_json = [](const std::string& prefix) {
    core::AsciiObject list(prefix.size() + 16);
    list.put_bytes("list", prefix);
    return list.finish();
  };
  json.put_json("first_lists", core::json_array(problem.first, list_json));
  json.put("count", problem.count);
  return json.finish();
}

std::string to_json(const std::vector<Problem>& problems) {
  return core::json_array(problems, [](const Problem& problem) { return to_json(problem); });
}

std::vector<ShownProblem> read_problems(const view::JsonFields& json) {
  std::vector<ShownProblem> problems;
  for (const view::JsonFields& each : json.objects("problems"))
    problems.push_back({each.text("kind"), each.bytes("host").value_or(""), each.text("text")});
  return problems;
}

}  // namespace w8y
