// Explains why a list does not run, or what limits it.
#include <algorithm>
#include <string_view>
#include <utility>

#include "core/escape.hpp"
#include "core/status.hpp"
#include "core/units.hpp"
#include "view/why.hpp"
#include "view/why_phrases.hpp"

namespace w8y::core {

namespace {

using Sentences = std::vector<WhySentence>;

/// Returns the list as the host has it; nullptr if it is not in the config of the host.
const ListStatus* list_of(const FleetHost& host) {
  return host.lists.empty() ? nullptr : &host.lists.front();
}

/// Returns why the host does not serve the list.
const std::string& reason_of(const FleetHost& host) {
  return host.lists.empty() || !host.error.empty() ? host.error : host.lists.front().why;
}

bool is(const FleetHost& host, HostState state) {
  return std::string_view(host.state()) == state_name(state);
}

/// Relation of a host to a list.
enum class Role {
  no_list,
  serves,
  refuses,
  disabled,
  quiet,
  draining,
  probing,
  starved,
  unavailable,
  no_reply,
  silent,
  unknown,
};

Role role_of(const FleetHost& host) {
  if (!host.error.empty() && !host.unresponsive) return Role::unknown;
  const ListStatus* const list = list_of(host);
  if (list == nullptr) return Role::no_list;
  if (host.unresponsive) return Role::silent;
  if (host.no_reply && host.late) return Role::no_reply;
  if (list->state == ListState::ineligible) return Role::refuses;
  if (list->state == ListState::disabled) return Role::disabled;
  if (is(host, HostState::draining) || list->state == ListState::draining) return Role::draining;
  if (is(host, HostState::quiet) || list->state == ListState::quiet) return Role::quiet;
  if (list->state == ListState::probing) return Role::probing;
  if (list->state == ListState::starved) return Role::starved;
  if (list->state == ListState::unavailable) return Role::unavailable;
  return Role::serves;
}

bool serves(const FleetHost& host) {
  return role_of(host) == Role::serves;
}

bool works_on(const FleetHost& host, std::string_view queue) {
  const ListStatus* const list = list_of(host);
  if (queue.empty() || list == nullptr || list->queues.empty()) return true;
  return std::find(list->queues.begin(), list->queues.end(), queue) != list->queues.end();
}

/// Hosts with the same role for the same reason, which one sentence reports.
struct Group {
  Role role;
  std::string why;
  std::vector<const FleetHost*> hosts;
};

std::vector<Group> groups_of(const WhyList& list) {
  std::vector<Group> groups;
  for (const FleetHost& host : list.hosts) {
    const Role role = role_of(host);
    if (role == Role::serves || role == Role::no_list) continue;
    // Each host without a reply has a time of its own.
    const bool silent = role == Role::silent || role == Role::no_reply;
    const std::string why = silent ? host.heartbeat.host : reason_of(host);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.role == role && group.why == why;
    });
    if (same != groups.end()) {
      same->hosts.push_back(&host);
    } else {
      groups.push_back({role, why, {&host}});
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.hosts.size() > b.hosts.size(); });
  return groups;
}

std::string hosts_text(const std::vector<std::string>& names) {
  return names.size() == 1 ? "The host " + name_all(names) : "The hosts " + name_all(names);
}

/// Returns ": " and the reason; "." if there is no reason.
std::string because(const std::string& why) {
  return why.empty() ? "." : ": " + ended(escape(why));
}

WhySentence no_reply_sentence(const WhyList& list, const FleetHost& host) {
  return sentence("no_reply",
                  "The host " + escape_text(host.heartbeat.host) + " did not reply within " +
                      rough_duration(order_timeout) + "; its last heartbeat was " +
                      rough_duration(std::max(WallTime{0}, list.now - host.last_heartbeat)) +
                      " ago.");
}

WhySentence group_sentence(const WhyList& list, const Group& group) {
  std::vector<std::string> names;
  for (const FleetHost* host : group.hosts) names.push_back(host->heartbeat.host);
  const bool one = names.size() == 1;
  const std::string who = hosts_text(names);
  const std::string why = escape(group.why);
  WhySentence told;
  switch (group.role) {
    case Role::refuses:
      told = sentence("ineligible", count_word(names.size()) +
                                        (one ? " host is ineligible for it, "
                                             : " hosts are ineligible for it, ") +
                                        name_all(names) + because(group.why));
      break;
    case Role::disabled:
      told = sentence("disabled", who + (one ? " has" : " have") + " it disabled in the config: " +
                                      ended(why.empty() ? "enabled = false" : why));
      break;
    case Role::quiet:
      told =
          sentence("quiet", who + (one ? " is" : " are") + " quiet and start" + (one ? "s" : "") +
                                " no new runs; to end that: w8yctl resume --host " +
                                escape_text(names.front()));
      break;
    case Role::draining:
      told = sentence("draining", who + (one ? " is" : " are") + " draining" + because(group.why));
      break;
    case Role::probing:
      told = sentence("probing", who + (one ? " is" : " are") + " still probing the executor.");
      break;
    case Role::starved:
      told = sentence("starved", who + " cannot start processes now" + because(group.why));
      break;
    case Role::unavailable:
      told =
          sentence("unavailable",
                   who + (list.kind->in_redis ? " cannot reach Redis" : " cannot reach gearmand") +
                       because(group.why));
      break;
    case Role::silent:
      told = sentence("unresponsive", who + " is unresponsive " +
                                          since_text(list, group.hosts.front()->last_heartbeat) +
                                          ": it was killed, or cannot reach Redis.");
      break;
    case Role::no_reply:
      told = no_reply_sentence(list, *group.hosts.front());
      break;
    case Role::unknown:
    case Role::no_list:
    case Role::serves:
      told = sentence("unknown", "The heartbeat of " + name_all(names) + " cannot be read" +
                                     because(group.why));
      break;
  }
  told.hosts = std::move(names);
  if (!group.why.empty() && group.role != Role::silent && group.role != Role::no_reply)
    told.texts["reason"] = group.why;
  return told;
}

Sentences group_sentences(const WhyList& list) {
  Sentences all;
  for (const Group& group : groups_of(list)) all.push_back(group_sentence(list, group));
  return all;
}

// ---- hosts at their limits

bool at_limit(const FleetHost& host) {
  return list_of(host)->running >= list_of(host)->concurrency;
}
bool out_of_places(const FleetHost& host) {
  return host.heartbeat.slots_limit > 0 && host.heartbeat.slots_used >= host.heartbeat.slots_limit;
}

/// Returns whether the host is at a limit, by its numbers or by the reason that it reports.
bool is_full(const FleetHost& host) {
  return at_limit(host) || out_of_places(host) ||
         (list_of(host)->state == ListState::full && !reason_of(host).empty());
}

std::string of(std::size_t used, std::size_t limit) {
  return std::to_string(used) + " of " + std::to_string(limit);
}

WhySentence limit_sentence(const WhyList& list, const FleetHost& host, bool only) {
  const std::string who = "The host " + escape_text(host.heartbeat.host) +
                          (only ? ", the only one that serves it," : "");
  WhySentence told;
  if (at_limit(host)) {
    told = sentence("limit", who + " is at its limit for the list: " +
                                 of(list_of(host)->running, list_of(host)->concurrency) +
                                 " runs (concurrency).");
    told.numbers = {{"running", static_cast<std::int64_t>(list_of(host)->running)},
                    {"limit", list_of(host)->concurrency}};
  } else if (!out_of_places(host)) {
    told = sentence("full", who + " starts no more runs now: " + ended(escape(reason_of(host))));
  } else {
    told = sentence(
        "host_limit",
        who + " has no free slot: " + of(host.heartbeat.slots_used, host.heartbeat.slots_limit) +
            " slots are in use (host_concurrency). Free slots are shared by weight; " +
            list_text(list) + " has weight " + std::to_string(list_of(host)->weight) + ".");
    told.numbers = {{"running", static_cast<std::int64_t>(host.heartbeat.slots_used)},
                    {"limit", static_cast<std::int64_t>(host.heartbeat.slots_limit)},
                    {"weight", list_of(host)->weight}};
  }
  told.hosts = {host.heartbeat.host};
  return told;
}

/// Returns the largest limit of the hosts, since each applies its own config; 0: one of them has no
/// limit.
unsigned fleet_limit(const std::vector<const FleetHost*>& hosts) {
  unsigned limit = 0;
  for (const FleetHost* host : hosts) {
    if (list_of(*host)->fleet_concurrency == 0) return 0;
    limit = std::max(limit, list_of(*host)->fleet_concurrency);
  }
  return limit;
}

std::optional<WhySentence> fleet_full(const WhyList& list,
                                      const std::vector<const FleetHost*>& able) {
  const unsigned limit = fleet_limit(able);
  if (limit == 0 || list.fleet_runs < limit) return std::nullopt;
  WhySentence told = sentence(
      "fleet_limit", "The fleet is at its limit for the list: " + of(list.fleet_runs, limit) +
                         " runs on all hosts together (fleet_concurrency).");
  told.numbers = {{"running", static_cast<std::int64_t>(list.fleet_runs)}, {"limit", limit}};
  return told;
}

// ---- commands of operators

WhySentence paused_sentence(const WhyList& list) {
  const Pause& pause = *list.pause;
  std::string text = "The list " + list_text(list) + " is paused";
  if (!pause.by.empty()) text += " by " + escape(pause.by);
  if (pause.since.count() > 0) text += " for " + rough_duration(list.now - pause.since);
  text +=
      pause.reason.empty() ? ", and no reason was given; " : ": \"" + escape(pause.reason) + "\"; ";
  text += pause.until.count() > 0 ? "the pause ends " + at_and_in(list, pause.until) + "."
                                  : "to resume it: w8yctl resume " + list_argument(list);
  WhySentence told = sentence("paused", std::move(text));
  if (!pause.by.empty()) told.texts["by"] = pause.by;
  if (!pause.reason.empty()) told.texts["reason"] = pause.reason;
  if (pause.since.count() > 0) told.numbers["since_ms"] = pause.since.count();
  if (pause.until.count() > 0) told.numbers["until_ms"] = pause.until.count();
  return told;
}

WhySentence breaker_sentence(const WhyList& list) {
  const OpenBreaker& breaker = *list.breaker;
  const std::string next = breaker.probe > list.now
                               ? "the next probe is " + at_and_in(list, breaker.probe)
                               : std::string("one run at a time tests whether runs succeed again");
  WhySentence told = sentence(
      "breaker_open", "The breaker of " + list_text(list) + " has been open for " +
                          rough_duration(list.now - breaker.since) + ": " + escape(breaker.reason) +
                          "; " + next + "; to close it now: w8yctl resume " + list_argument(list));
  told.texts["reason"] = breaker.reason;
  told.numbers["since_ms"] = breaker.since.count();
  told.numbers["probe_ms"] = breaker.probe.count();
  return told;
}

WhySentence halted_sentence(const WhyList& list) {
  WhySentence told =
      sentence("halted", "The schedule " + list_text(list) + " is halted" +
                             (list.halted->empty() ? "" : " by " + escape(*list.halted)) +
                             "; to resume it: w8yctl schedule -k " + schedule_argument(list) +
                             " control RESUME");
  if (!list.halted->empty()) told.texts["by"] = *list.halted;
  return told;
}

/// Explains why no host serves the list.
Sentences nobody_serves(const WhyList& list) {
  if (list.hosts.empty())
    return {sentence("no_hosts",
                     "No host can run it: the fleet " + escape_text(list.fleet) + " has no host.")};
  std::vector<std::string> names;
  bool known = false;
  for (const FleetHost& host : list.hosts) {
    names.push_back(host.heartbeat.host);
    known = known || list_of(host) != nullptr || role_of(host) == Role::unknown;
  }
  if (!known) {
    WhySentence told =
        sentence("not_configured", "No host has " + list_text(list) + " in its config: the fleet " +
                                       escape_text(list.fleet) + " has " + name_all(names) + ".");
    told.hosts = std::move(names);
    return {std::move(told)};
  }
  Sentences all = group_sentences(list);
  if (all.size() > 1) all.insert(all.begin(), sentence("not_served", "No host serves it now."));
  return all;
}

/// Explains that no serving host serves this queue.
Sentences nobody_works(const WhyList& list, std::string_view queue) {
  std::string known;
  for (const FleetHost& host : list.hosts) {
    if (!serves(host) || list_of(host)->queues.empty()) continue;
    std::string codes;
    for (const auto& code : list_of(host)->queues)
      codes += (codes.empty() ? "" : ", ") + escape_text(code);
    known += (known.empty() ? "" : "; ") + escape_text(host.heartbeat.host) + ": " + codes;
  }
  Sentences all{sentence("queue_unserved", "No host serves the queue " + escape_text(queue) +
                                               ": no host of the fleet has it in `queues`.")};
  all.front().texts["queue"] = queue;
  if (!known.empty()) all.push_back(sentence("queues", "Queues that are served: " + known));
  return all;
}

}  // namespace

Sentences hindrances(const WhyList& list, std::string_view queue) {
  Sentences all;
  if (list.pause) all.push_back(paused_sentence(list));
  if (list.breaker) all.push_back(breaker_sentence(list));
  if (list.halted) all.push_back(halted_sentence(list));
  if (!list.fleet_error.empty()) {
    all.push_back(sentence("fleet_unknown",
                           "The state of the hosts is not known, because the "
                           "fleet cannot be read: " +
                               ended(escape(list.fleet_error))));
    return all;
  }
  std::vector<const FleetHost*> able;
  bool served = false;
  for (const FleetHost& host : list.hosts) {
    if (!serves(host)) continue;
    served = true;
    if (works_on(host, queue)) able.push_back(&host);
  }
  if (able.empty()) {
    const Sentences why = served ? nobody_works(list, queue) : nobody_serves(list);
    all.insert(all.end(), why.begin(), why.end());
    return all;
  }
  if (auto full = fleet_full(list, able)) {
    all.push_back(std::move(*full));
    return all;
  }
  for (const FleetHost* host : able)
    if (!is_full(*host)) return all;
  for (const FleetHost* host : able) all.push_back(limit_sentence(list, *host, able.size() == 1));
  return all;
}

Sentences elsewhere(const WhyList& list) {
  return std::any_of(list.hosts.begin(), list.hosts.end(), serves) ? group_sentences(list)
                                                                   : Sentences{};
}

Sentences doubts_about(const WhyList& list, const std::string& name) {
  Sentences all;
  for (const FleetHost& host : list.hosts) {
    if (host.heartbeat.host != name) continue;
    if (!host.unresponsive && !host.no_reply) return {};
    const Role role = host.unresponsive ? Role::silent : Role::no_reply;
    all = {group_sentence(list, {role, name, {&host}})};
  }
  return all;
}

void add_without_reply(const WhyList& list, Sentences& all) {
  Sentences silent;
  bool replied = false;
  for (const FleetHost& host : list.hosts) {
    const Role role = role_of(host);
    replied = replied || (role == Role::serves && !host.no_reply);
    if (!host.no_reply || role == Role::no_list || role == Role::no_reply || role == Role::silent)
      continue;
    silent.push_back(group_sentence(list, {Role::no_reply, host.heartbeat.host, {&host}}));
  }
  if (!replied && !silent.empty())
    std::erase_if(all, [](const WhySentence& each) {
      return each.kind == "ready" || each.kind == "next_poll";
    });
  all.insert(replied ? all.end() : all.begin(), silent.begin(), silent.end());
}

Sentences limits_reached(const WhyList& list) {
  Sentences all;
  for (const FleetHost& host : list.hosts)
    if (serves(host) && is_full(host)) all.push_back(limit_sentence(list, host, false));
  return all;
}

Sentences turn_comes(const WhyList& list) {
  const FleetHost* soonest = nullptr;
  for (const FleetHost& host : list.hosts) {
    if (!serves(host) || !list_of(host)->poll_within || is_full(host)) continue;
    if (soonest == nullptr || *list_of(host)->poll_within < *list_of(*soonest)->poll_within)
      soonest = &host;
  }
  if (soonest == nullptr) return {};
  WhySentence told = sentence("next_poll", "The host " + escape_text(soonest->heartbeat.host) +
                                               " polls for free items within " +
                                               rough_duration(*list_of(*soonest)->poll_within) +
                                               ", and at once after a wake-up.");
  told.hosts = {soonest->heartbeat.host};
  told.numbers["within_ms"] =
      std::chrono::duration_cast<WallTime>(*list_of(*soonest)->poll_within).count();
  return {std::move(told)};
}

}  // namespace w8y::core
