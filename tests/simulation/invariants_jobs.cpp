#include "simulation/invariants_jobs.hpp"

#include <algorithm>

#include "store/scripts.hpp"
#include "store/thoonk/job_note.hpp"

namespace w8y::sim {

namespace {

namespace scripts_of = store::scripts;

/// Maximum time of a job in the queue while a host has a free slot.
constexpr Duration max_queued = std::chrono::seconds(5);
constexpr Duration max_gone = JobWatch::max_gone;
constexpr Duration max_looks = JobWatch::max_looks;
constexpr std::size_t digits_of_id = 26;

std::string run_named_in(const std::string& value) {
  return value.size() < digits_of_id ? value : value.substr(value.size() - digits_of_id);
}

}  // namespace

bool JobWatch::is_about_it(const Server::Command& command) const {
  return command.script != nullptr && !command.key.empty() &&
         (command.key[0].ends_with(':' + keys_.feed) ||
          command.key[0].starts_with(keys_.feed + ':'));
}

bool JobWatch::is_claimed(Server& server, const std::string& id) const {
  const SortedSet* claimed = server.keys().find<SortedSet>(keys_.claimed);
  return claimed != nullptr && claimed->score(id).has_value();
}

void JobWatch::before(Server& server, const Server::Command& command) {
  if (!is_about_it(command)) return;
  items_.clear();
  claimed_.clear();
  if (const Hash* items = server.keys().find<Hash>(keys_.items))
    for (const auto& [id, payload] : *items) items_.insert(id);
  if (const SortedSet* claimed = server.keys().find<SortedSet>(keys_.claimed))
    for (const auto& [score, id] : claimed->order()) claimed_.insert(id);
}

void JobWatch::after(Server& server, const Server::Command& command, const Value& reply) {
  if (!is_about_it(command)) return;
  if (command.script == &scripts_of::job_put) {
    after_put(server, command, reply);
  } else if (command.script == &scripts_of::job_claim) {
    after_take(server, command, reply);
  } else if (command.script == &scripts_of::job_renew) {
    after_renew(command, reply);
  } else if (command.script == &scripts_of::job_settle) {
    after_end(server, command, reply);
  } else if (command.script == &scripts_of::job_change) {
    for (std::size_t i = 6; i < command.arg.size(); ++i)
      promises_.on_claimed_elsewhere(server, keys_.feed, command.arg[i]);
  } else if (command.script == &scripts_of::job_recover) {
    for (std::size_t i = 3; i < reply.elements.size(); ++i)
      promises_.ended(run_named_in(reply.elements[i].text));
  }
  check_marks(server, command);
  check_items(server, command);
  check_places(server, command.who);
}

void JobWatch::after_take(Server& server, const Server::Command& command, const Value& reply) {
  constexpr std::size_t head = 6, of_job = 4, of_long = 3;
  const auto& told = reply.elements;
  if (told.size() < head) return;
  std::size_t run = 9;
  for (std::size_t i = head + of_long * static_cast<std::size_t>(told[5].number);
       i + of_job <= told.size(); i += of_job, ++run) {
    const std::string& id = told[i].text;
    others_.erase(server.name() + ' ' + id);
    if (claimed_.contains(id))
      return promises_.break_promise(
          "a job has one holder", id + " is claimed by " + command.who + ", and was claimed before",
          {about(id), command.who});
    check_payload(server, id, told[i + 3].text, command.who);
    promises_.claimed(server,
                      {command.who, keys_.feed, id, command.arg[run], keys_.lease(id),
                       command.arg[1] + command.arg[run],
                       std::chrono::milliseconds(number(command.arg[2])), number(command.arg[3])});
  }
}

void JobWatch::after_renew(const Server::Command& command, const Value& reply) {
  constexpr std::size_t of_lease = 3;
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    const auto state = reply.elements[i].number;
    if (state == 1 || state == 2)
      promises_.renewed(run_named_in(command.arg[2 + of_lease * i + 1]),
                        std::chrono::milliseconds(number(command.arg[0])), state == 2);
  }
}

/// Checks that a job is finished once. One call may settle two runs of a job, of which one has the
/// claim.
void JobWatch::after_end(Server& server, const Server::Command& command, const Value& reply) {
  constexpr std::size_t first = 6, of_kind = 8, of_run = 6;
  const auto kinds = static_cast<std::size_t>(number(command.arg[4]));
  std::set<std::string> jobs, done;
  for (std::size_t at = first + of_kind * kinds; at + of_run <= command.arg.size(); at += of_run) {
    const auto kind = static_cast<std::size_t>(number(command.arg[at])) - 1;
    const std::string &effect = command.arg[first + of_kind * kind + 1], &run = command.arg[at + 1],
                      &id = command.arg[at + 2];
    const bool was = claimed_.contains(id), is = is_claimed(server, id);
    if (was) jobs.insert(id);
    promises_.log(server.name(), about(id),
                  "end of run " + run + ", " + effect + (was && !is ? "" : ": nothing"));
    promises_.ended(run);
    if (effect != "finish" || !was || is || !done.insert(id).second) continue;
    if (finish_marked(server, id, run)) continue;
    const auto [known, anew] = finished_.emplace(server.name() + ' ' + id, run);
    if (!anew)
      return promises_.break_promise(
          "a job is finished once",
          id + " is finished by run " + run + ", and was by run " + known->second, {about(id)});
  }
  const auto ours = reply.elements.empty() ? 0 : reply.elements.front().number;
  if (ours > static_cast<std::int64_t>(jobs.size()))
    promises_.break_promise("a job has one holder",
                            std::to_string(ours) + " settlements of " + command.who +
                                " had a claim, of " + std::to_string(jobs.size()) +
                                " jobs that were claimed",
                            {command.who});
}

/// Checks that a job exists until it is finished or retracted.
void JobWatch::check_items(Server& server, const Server::Command& command) {
  const bool by_user = command.script == &scripts_of::job_change;
  if (by_user) return;
  const Hash* items = server.keys().find<Hash>(keys_.items);
  for (const std::string& id : items_) {
    if (items != nullptr && items->contains(id)) continue;
    if (finished_.contains(server.name() + ' ' + id)) continue;
    if (!waiting_payload(server, id).empty()) continue;  // maintenance puts it
    return promises_.break_promise(
        "no job is ever lost",
        id + " is gone after a call of " + command.who + " without being finished",
        {about(id), command.who});
  }
}

/// Checks that each job is queued, claimed or stalled. A job may be both queued and claimed if a
/// permission was missing between both steps. It must not be claimed again: see after_take().
void JobWatch::check_places(Server& server, const std::string& who) {
  Keys& keys = server.keys();
  const Hash* items = keys.find<Hash>(keys_.items);
  if (items == nullptr) return;
  const List* ids = keys.find<List>(keys_.ids);
  const Set* stalled = keys.find<Set>(keys_.stalled);
  const std::set<std::string> waiting =
      ids == nullptr ? std::set<std::string>() : std::set<std::string>(ids->begin(), ids->end());
  for (const auto& [id, payload] : *items)
    if (!waiting.contains(id) && !is_claimed(server, id) &&
        (stalled == nullptr || !stalled->contains(id)) &&
        !others_.contains(server.name() + ' ' + id))
      return promises_.break_promise(
          "no job is ever lost",
          id + " is neither queued, claimed nor stalled after a call of " + who, {about(id), who});
}

/// Forgets the lost writes. A job without a claim record counts as claimed by another client.
void JobWatch::lost_writes(Server& server) {
  const std::string begin = server.name() + ' ';
  std::erase_if(finished_, [&](const auto& each) { return each.first.starts_with(begin); });
  std::erase_if(marks_, [&](const auto& each) { return each.first.starts_with(begin); });
  std::erase_if(again_, [&](const auto& each) { return each.starts_with(begin); });
  if (const Hash* waiting = server.keys().find<Hash>(reruns_))
    for (const auto& [id, payload] : *waiting) again_.insert(begin + id);
  fronts_.clear();
  const Hash* items = server.keys().find<Hash>(keys_.items);
  if (items == nullptr) return;
  for (const auto& [id, payload] : *items)
    if (!has_field(server.keys(), keys_.taken, id)) claimed_by_another(server, id);
}

// ---- without faults

void JobWatch::check(Server& server, bool room) {
  look_at_queue(server, room);
  check_notes(server);
  check_claims(server);
  check_waiting(server);
}

void JobWatch::look_at_queue(Server& server, bool room) {
  const List* ids = server.keys().find<List>(keys_.ids);
  if (ids == nullptr || !room) {
    fronts_.erase(server.name());
    return;
  }
  Front& front = fronts_[server.name()];
  if (front.id != ids->back()) front = {ids->back(), promises_.now()};
  if (promises_.now() - front.since > max_queued)
    promises_.break_promise("queued jobs are claimed", front.id + " is queued, and a slot is free",
                            {about(front.id)});
}

/// Checks the records of claims whose lease has expired.
void JobWatch::check_notes(Server& server) {
  const Hash* taken = server.keys().find<Hash>(keys_.taken);
  if (taken == nullptr) return;
  for (const auto& [id, text] : *taken) {
    const auto note = store::thoonk::read_job_note(text);
    if (!note || server.keys().exists(keys_.lease(id))) continue;
    const std::int64_t over_ms = server.keys().now_ms() - note->until_ms;
    if (over_ms > max_gone.count() / 1000)
      promises_.break_promise(
          "the job of a dead holder is recovered",
          id + " is claimed, and its lease has been expired for " + std::to_string(over_ms) + " ms",
          {about(id)});
  }
}

/// Checks claims without a lease, and orphaned jobs.
void JobWatch::check_claims(Server& server) {
  const Hash* items = server.keys().find<Hash>(keys_.items);
  if (items == nullptr) return;
  const SortedSet* claimed = server.keys().find<SortedSet>(keys_.claimed);
  const List* ids = server.keys().find<List>(keys_.ids);
  const Set* stalled = server.keys().find<Set>(keys_.stalled);
  for (const auto& [id, payload] : *items) {
    const std::string which = server.name() + ' ' + id;
    const auto score = claimed == nullptr ? std::nullopt : claimed->score(id);
    const bool waits = ids != nullptr && std::find(ids->begin(), ids->end(), id) != ids->end();
    if (score || waits || (stalled != nullptr && stalled->contains(id))) {
      nowhere_.erase(which);
    } else if (promises_.now() - nowhere_.try_emplace(which, promises_.now()).first->second >
               max_looks) {
      return promises_.break_promise("no job is ever lost",
                                     id + " was orphaned during several maintenance scans",
                                     {about(id)});
    }
    if (!score || has_field(server.keys(), keys_.taken, id)) continue;
    const auto age_ms = static_cast<double>(server.keys().now_ms()) - *score;
    if (age_ms > 1000.0 * feed_claim_timeout_s + static_cast<double>(max_looks.count()) / 1000)
      return promises_.break_promise(
          "the job of a dead holder is recovered",
          id + " was claimed " + std::to_string(age_ms / 1000) + " s ago without a lease",
          {about(id)});
  }
}

void JobWatch::nothing_left(Server& server) {
  const Hash* taken = server.keys().find<Hash>(keys_.taken);
  if (taken == nullptr) return;
  for (const auto& [id, note] : *taken)
    promises_.break_promise("no lock outlives its holder",
                            id + " is recorded as claimed when all hosts have left: " + note,
                            {about(id)});
}

}  // namespace w8y::sim
