#include "simulation/invariants_schedules.hpp"

#include <algorithm>

#include "core/job_code.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

namespace lua_of = store::scripts;

/// Maximum time until a due job is queued, and until a queued job is claimed while a host has a
/// free slot. Hosts poll at least this often within their idle budget.
constexpr Duration max_delay = std::chrono::seconds(5);
/// Maximum time from the end of the lease of a dead holder to the recovery of its job:
/// recover_pause of each host, and the search.
constexpr Duration max_absence = std::chrono::seconds(8);
constexpr std::size_t digits_of_run = 26;

}  // namespace

bool ScheduleWatch::is_worked_on(Server& server, const std::string& job) const {
  return server.keys().exists(keys_.working(job)) || has_field(server.keys(), keys_.taken, job);
}

void ScheduleWatch::before(Server& server, const Server::Command& command) {
  if (command.script != &lua_of::schedule_dispatch || command.key[0] != keys_.timeline) return;
  due_before_.clear();
  if (server.keys().type(keys_.timeline) != std::string("zset")) return;
  for (const auto& [score, job] : server.keys().find<SortedSet>(keys_.timeline)->order())
    due_before_[job] = score;
}

void ScheduleWatch::after(Server& server, const Server::Command& command, const Value& reply) {
  if (command.script == nullptr || command.key.empty() || !command.key[0].starts_with(prefix_))
    return;
  if (command.script == &lua_of::schedule_claim) {
    after_take(server, command, reply);
  } else if (command.script == &lua_of::schedule_renew) {
    after_renew(command, reply);
  } else if (command.script == &lua_of::schedule_dispatch) {
    after_dispatch(server);
  } else if (command.script == &lua_of::schedule_settle && !reply.elements.empty()) {
    const std::string& state = reply.elements[0].text;
    promises_.log(server.name(), about(command.arg[4]),
                  "end of run " + command.arg[6] + ", " + command.arg[7] + ": " + state);
    if (state != "changed") promises_.ended(command.arg[6]);
  } else if (command.script == &lua_of::schedule_recover) {
    for (std::size_t i = 3; i < reply.elements.size(); ++i) {
      const std::string& run = reply.elements[i].text;
      promises_.ended(run.substr(run.size() - digits_of_run));
    }
  }
  check_places(server, command.who);
}

void ScheduleWatch::after_take(Server& server, const Server::Command& command, const Value& reply) {
  constexpr std::size_t head = 7, of_job = 5;
  const auto& told = reply.elements;
  if (told.size() < head) return;
  std::size_t ticket = 11 + static_cast<std::size_t>(number(command.arg[10]));
  for (std::size_t i = head + 2 * static_cast<std::size_t>(told[6].number);
       i + of_job <= told.size(); i += of_job, ticket += 2) {
    const std::string& job = told[i].text;
    others_.erase(server.name() + ' ' + job);
    promises_.claimed(server,
                      {command.who, prefix_, job, command.arg[ticket], keys_.working(job),
                       command.arg[ticket + 1], std::chrono::milliseconds(number(command.arg[2])),
                       number(command.arg[3])});
  }
}

void ScheduleWatch::after_renew(const Server::Command& command, const Value& reply) {
  constexpr std::size_t of_lease = 4;
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    const auto state = reply.elements[i].number;
    if (state == 1 || state == 2)
      promises_.renewed(command.arg[2 + of_lease * i + 2],
                        std::chrono::milliseconds(number(command.arg[0])), state == 2);
  }
}

/// Checks that no job leaves the timeline before its time.
void ScheduleWatch::after_dispatch(Server& server) {
  const auto now_s = static_cast<double>(server.keys().now_ms() / 1000);
  const SortedSet* timeline = server.keys().find<SortedSet>(keys_.timeline);
  for (const auto& [job, score] : due_before_) {
    const auto left = timeline == nullptr ? std::nullopt : timeline->score(job);
    if (left == score) continue;
    promises_.log(server.name(), about(job), "is due");
    if (score > now_s)
      return promises_.break_promise(
          "a job is not dispatched before its time",
          job + " left the timeline " + std::to_string(score - now_s) + " s before", {about(job)});
  }
}

/// Checks that each job that must run is on the timeline, queued or claimed.
void ScheduleWatch::check_places(Server& server, const std::string& who) {
  Keys& keys = server.keys();
  const Hash* statuses = keys.find<Hash>(keys_.statuses);
  if (statuses == nullptr) return;
  const SortedSet* timeline = keys.find<SortedSet>(keys_.timeline);
  for (const auto& [job, status] : *statuses) {
    const std::string event = status.substr(0, 3);
    if (event != "TML" && event != "ENQ" && event != "WRK") continue;
    const std::string queue = keys_.queue(code_of(job));
    const List* list = keys.find<List>(queue);
    const auto copies = list == nullptr ? 0 : std::count(list->begin(), list->end(), job);
    if (copies > 1)
      return promises_.break_promise(
          "a job is queued once",
          job + " is " + std::to_string(copies) + " times in " + queue + " after a call of " + who,
          {about(job), who});
    const bool planned = timeline != nullptr && timeline->score(job).has_value();
    const std::string which = server.name() + ' ' + job;
    if (is_worked_on(server, job)) continue;
    if (planned || copies == 1) {
      others_.erase(which);
      continue;
    }
    // The key of a worker of Redbike has expired. A job that was due while the key existed is
    // dropped, by Redbike too.
    if (event != "ENQ" && others_.contains(which)) continue;
    return promises_.break_promise("no job of a schedule is ever lost",
                                   job + " is " + status +
                                       ", and neither on the timeline, queued nor running, "
                                       "after a call of " +
                                       who,
                                   {about(job), who});
  }
}

/// A running job without a claim record counts as claimed by another client.
void ScheduleWatch::lost_writes(Server& server) {
  fronts_.clear();
  if (const Hash* statuses = server.keys().find<Hash>(keys_.statuses))
    for (const auto& [job, status] : *statuses)
      if (status.starts_with("WRK") && !has_field(server.keys(), keys_.taken, job))
        claimed_by_another(server, job);
}

// ---- without faults

void ScheduleWatch::check(Server& server, bool room) {
  check_timeline(server);
  check_queues(server, room);
  check_notes(server);
}

void ScheduleWatch::check_timeline(Server& server) {
  const SortedSet* timeline = server.keys().find<SortedSet>(keys_.timeline);
  if (timeline == nullptr || timeline->order().empty()) return;
  const auto& [due, job] = *timeline->order().begin();
  const auto late_ms = static_cast<double>(server.keys().now_ms()) - due * 1000;
  if (late_ms > static_cast<double>(max_delay.count()) / 1000)
    promises_.break_promise(
        "due jobs are dispatched",
        job + " is on the timeline " + std::to_string(late_ms / 1000) + " s after its time",
        {about(job)});
}

void ScheduleWatch::check_queues(Server& server, bool room) {
  for (const char* code : {"A", "B"}) {
    const std::string queue = keys_.queue(code), where = server.name() + ' ' + queue;
    const List* list = server.keys().find<List>(queue);
    if (list == nullptr || !room) {
      fronts_.erase(where);
      continue;
    }
    Front& front = fronts_[where];
    if (front.job != list->back()) front = {list->back(), promises_.now()};
    if (promises_.now() - front.since > max_delay)
      promises_.break_promise("queued jobs are claimed",
                              front.job + " is queued in " + queue + ", and a slot is free",
                              {about(front.job)});
  }
}

/// Checks the records of claims whose lease has expired.
void ScheduleWatch::check_notes(Server& server) {
  const Hash* taken = server.keys().find<Hash>(keys_.taken);
  if (taken == nullptr) return;
  static const std::string mark = "\"until\":";
  for (const auto& [job, note] : *taken) {
    const auto at = note.find(mark);
    if (at == std::string::npos || server.keys().exists(keys_.working(job))) continue;
    const std::int64_t over_ms = number(note.substr(at + mark.size()));
    if (server.keys().now_ms() - over_ms > max_absence.count() / 1000)
      promises_.break_promise("the job of a dead holder is recovered",
                              job + " is recorded as claimed, and its lease has been expired for " +
                                  std::to_string(server.keys().now_ms() - over_ms) + " ms",
                              {about(job)});
  }
}

void ScheduleWatch::nothing_left(Server& server) {
  const Hash* taken = server.keys().find<Hash>(keys_.taken);
  if (taken == nullptr) return;
  for (const auto& [job, note] : *taken)
    promises_.break_promise("no lock outlives its holder",
                            job + " is recorded as claimed when all hosts have left: " + note,
                            {about(job)});
}

}  // namespace w8y::sim
