// Explains what limits a list as a whole.
#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "core/units.hpp"
#include "view/kinds.hpp"
#include "view/why.hpp"
#include "view/why_phrases.hpp"

namespace w8y {

using core::count_of;
using core::sentence;
using view::view_of;

namespace {

std::size_t in_state(const WhyItems& items, const char* state) {
  const auto found = items.states.find(state);
  return found == items.states.end() ? 0 : found->second;
}

/// Returns text such as "3 free, 8 running".
std::string states_text(const WhyItems& items) {
  std::string text;
  for (const auto& [state, count] : items.states)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  return text;
}

WhySentence items_sentence(const WhyList& list, const WhyItems& items) {
  std::string text = count_of(items.length, view_of(list).item) + ": ";
  if (items.examined < items.length)
    text = "The first " + std::to_string(items.examined) + " of " + text;
  WhySentence told = sentence("items", text + states_text(items) + ".");
  told.numbers["length"] = static_cast<std::int64_t>(items.length);
  for (const auto& [state, count] : items.states)
    told.numbers[state] = static_cast<std::int64_t>(count);
  return told;
}

std::string rests_until(const WhyItems& items) {
  if (!items.first_free) return {};
  if (items.length == 1) return "It is free in " + rough_duration(*items.first_free) + ".";
  std::string text = "The next one is free in " + rough_duration(*items.first_free);
  if (items.last_free && *items.last_free > *items.first_free)
    text += ", the last one in " + rough_duration(*items.last_free);
  return text + ".";
}

/// Returns sentences if no item can be claimed; the first one says so.
std::vector<WhySentence> nothing_to_take(const WhyList& list, const WhyItems& items) {
  std::vector<WhySentence> all;
  const std::size_t running = in_state(items, "running") + in_state(items, "claimed");
  const std::size_t resting = in_state(items, "delayed");
  const view::KindView& kind = view_of(list);
  const bool one = items.length == 1;
  const std::string all_of =
      one ? std::string("only ") + kind.item : count_of(items.length, kind.item);
  if (running == items.examined) {
    all.push_back(
        sentence("all_run", "Nothing blocks it: " + std::string(one ? "its " : "all of its ") +
                                all_of + (one ? " runs." : " run.")));
  } else if (resting == items.examined) {
    all.push_back(sentence("all_delayed", (one ? "Its " : "All of its ") + all_of +
                                              (one ? " is delayed. " : " are delayed. ") +
                                              rests_until(items)));
  } else if (list.kind->is_due_by_time) {
    const bool late = items.late > 0;
    std::string text = late ? "No job is queued, though " + count_of(items.late, "job") +
                                  (items.late == 1 ? " is" : " are") + " due: no host has put " +
                                  (items.late == 1 ? "it" : "them") + " in a queue yet"
                            : "No job is due";
    if (!late && items.next_due)
      text += "; the next one is " + core::at_and_in(list, *items.next_due);
    all.push_back(sentence(late ? "late" : "none_due", text + "."));
  } else {
    all.push_back(
        sentence("none_free", std::string("No ") + kind.item + " is " + kind.claimable + "."));
    if (resting > 0) all.push_back(sentence("delayed", rests_until(items)));
  }
  if (items.first_free)
    all.back().numbers["free_in_ms"] =
        std::chrono::duration_cast<WallTime>(*items.first_free).count();
  return all;
}

void add(std::vector<WhySentence>& all, std::vector<WhySentence> more) {
  for (WhySentence& each : more) all.push_back(std::move(each));
}

/// Explains a list of Gearman. A worker cannot read the number of jobs.
Why why_gearman(const WhyList& list) {
  std::size_t running = 0;
  for (const FleetHost& host : list.hosts)
    for (const ListStatus& each : host.lists) running += each.running;
  std::vector<WhySentence> held = core::hindrances(list);
  Why why{running > 0 ? "running" : held.empty() ? "idle" : "held", {}};
  const bool hindered = !held.empty();
  add(why.sentences, std::move(held));
  if (!hindered)
    why.sentences.push_back(
        sentence("ready", running > 0 ? "Nothing blocks it: " + count_of(running, "job") +
                                            (running == 1 ? " runs." : " run.")
                                      : "Nothing blocks it: its hosts wait for jobs."));
  why.sentences.push_back(sentence(
      "not_known", "Only gearmand has the number of queued jobs; to see it: gearadmin --status"));
  if (!hindered) add(why.sentences, core::limits_reached(list));
  add(why.sentences, core::elsewhere(list));
  return why;
}

}  // namespace

void add_replies(std::vector<FleetHost>& hosts, const FleetCommandResult& replies) {
  for (FleetHost& host : hosts) {
    host.no_reply = std::any_of(replies.no_reply.begin(), replies.no_reply.end(),
                                [&host](const FleetCommandResult::NoReply& missing) {
                                  return missing.host_id == host.heartbeat.id;
                                });
    const auto reply = std::find_if(
        replies.replies.begin(), replies.replies.end(),
        [&host](const FleetReply& answer) { return answer.host_id == host.heartbeat.id; });
    if (reply == replies.replies.end() || reply->result != "done") continue;
    host.lists.clear();
    if (!reply->list) continue;
    host.lists.push_back(reply->list->list);
    host.heartbeat.state = reply->list->host_state;
    host.heartbeat.slots_used = reply->list->slots_used;
    host.heartbeat.slots_limit = reply->list->slots_limit;
    host.unresponsive = false;
  }
}

Why why_list(const WhyList& list, const WhyItems& items) {
  Why why;
  const bool known = std::any_of(list.hosts.begin(), list.hosts.end(),
                                 [](const FleetHost& host) { return !host.lists.empty(); });
  if (!list.has_keys && !known) {
    why.state = "unknown";
    why.sentences = {sentence("no_list", "There is no list " + core::list_text(list) +
                                             ": Redis has none of its keys, and no host has it in "
                                             "its config" +
                                             (list.near.empty() ? "." : list.near))};
    return why;
  }
  if (!list.kind->in_redis) return why_gearman(list);
  const bool busy = in_state(items, "running") + in_state(items, "claimed") > 0;
  std::vector<WhySentence> held = core::hindrances(list);
  std::vector<WhySentence> unserved;
  if (items.length == 0) {
    why.state = "idle";
    why.sentences.push_back(sentence(
        "empty",
        "The list " + core::list_text(list) + " is empty: it has no " + view_of(list).item + "s."));
    add(why.sentences, std::move(held));
    return why;
  }
  const std::size_t claimable = in_state(items, view_of(list).claimable);
  std::size_t free = claimable;
  if (held.empty())
    for (const auto& [code, queued] : items.queues) {
      // Reported already, or the same reason for all queues.
      auto why_not = core::hindrances(list, code);
      if (why_not.empty() || why_not.front().kind != "queue_unserved") continue;
      free -= std::min(free, queued);
      unserved.push_back(std::move(why_not.front()));
    }
  why.state = busy ? "running" : held.empty() ? "idle" : "held";
  const bool hindered = !held.empty();
  add(why.sentences, std::move(held));
  if (claimable == 0) {
    add(why.sentences, nothing_to_take(list, items));
  } else if (!hindered && free > 0) {
    why.sentences.push_back(sentence(
        "ready", "Nothing blocks it: slots are free, and " + count_of(free, view_of(list).item) +
                     (free == 1 ? " is claimed soon." : " are claimed soon.")));
    add(why.sentences, core::turn_comes(list));
  }
  add(why.sentences, std::move(unserved));
  why.sentences.push_back(items_sentence(list, items));
  if (!hindered) add(why.sentences, core::limits_reached(list));
  add(why.sentences, core::elsewhere(list));
  core::add_without_reply(list, why.sentences);
  return why;
}

Why why_unavailable(const std::string& host, const std::string& error,
                    std::optional<WallTime> since, WallTime now,
                    std::string (*time_text)(WallTime time)) {
  WhyList clock;
  clock.now = now;
  clock.time_text = time_text;
  std::string text = "Redis is unavailable";
  if (since) text += " " + core::since_text(clock, *since);
  text += ", as seen by the host " + escape_text(host) + ": " + core::ended(escape(error));
  Why why{"unavailable", {sentence("redis_away", std::move(text))}};
  why.sentences.front().hosts = {host};
  if (since) why.sentences.front().numbers["since_ms"] = since->count();
  why.sentences.push_back(sentence(
      "redis_away", "Hosts start no runs until it is available again; they retry by themselves."));
  return why;
}

}  // namespace w8y
