#include "simulation/invariants_gearman.hpp"

#include <algorithm>

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Time to reconnect after a fault, and to detect an unresponsive connection.
constexpr Duration aftermath_of_line = 12s;
/// A worker disconnects from a gearmand that does not reply for 30 s.
constexpr Duration max_silence = 45s;
/// Maximum time until an assigned job is started or handed back. A job that arrives late waits for
/// a free slot.
constexpr Duration max_unborn = 25s;
constexpr Duration max_untold = 5s;

std::string field_of(const std::string& json, const std::string& name) {
  const std::string begin = '"' + name + "\":\"";
  const std::size_t at = json.find(begin);
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return json.substr(from, json.find('"', from) - from);
}

}  // namespace

void GearmanWatch::error(const std::string& affected, Duration time) {
  Instant& until = error_until_[affected];
  until = std::max(until, promises_.now() + time + aftermath_of_line);
}

bool GearmanWatch::in_error(const std::string& host, const std::string& gearmand,
                            Instant since) const {
  return std::any_of(error_until_.begin(), error_until_.end(), [&](const auto& error) {
    const auto& [affected, until] = error;
    return until >= since &&
           (affected == host || affected == gearmand || affected == host + ' ' + gearmand);
  });
}

std::size_t GearmanWatch::held_by(const std::string& host, const std::string& gearmand) const {
  return static_cast<std::size_t>(
      std::count_if(givens_.begin(), givens_.end(), [&](const Given& each) {
        return each.held && each.host == host && each.gearmand == gearmand;
      }));
}

// ---- at a gearmand

GearmanWatch::Given* GearmanWatch::held(const Gearmand& at, std::uint64_t session,
                                        const std::string& handle) {
  const auto found = std::find_if(givens_.rbegin(), givens_.rend(), [&](const Given& each) {
    return each.held && each.session == session && each.handle == handle &&
           each.gearmand == at.name();
  });
  return found == givens_.rend() ? nullptr : &*found;
}

void GearmanWatch::given(Gearmand& at, const GearmanJob& job, const Gearmand::Who& to) {
  ++moves_[at.name()];
  promises_.log(at.name(), about(job.id()),
                "assigned to " + to.name + ", connection " + std::to_string(to.session));
  if (!is_host(to.name)) return;
  givens_.push_back({at.name(), job.id(), job.handle, to.name, to.session, promises_.now()});
  givens_.back().limit = std::max(limits_[to.name], concurrency_of(to.name));
}

/// Checks that the result matches the outcome of the run.
void GearmanWatch::ended(Gearmand& at, const GearmanJob& job, const Gearmand::Who& by,
                         Gearmand::Ending how) {
  const bool complete = how == Gearmand::Ending::complete;
  promises_.log(at.name(), about(job.id()),
                (complete ? "complete, from " : "failed, from ") + by.name);
  if (!is_host(by.name)) return;
  Given* given = held(at, by.session, job.handle);
  if (given == nullptr) return;
  given->held = false;
  given->reported = how;
  const bool is_so =
      complete ? given->sends_complete || given->outcome == "succeeded"
               : !given->outcome.empty() && given->outcome != "succeeded" && !given->goes_back;
  if (!is_so)
    promises_.break_promise("gearmand gets the outcome of the run",
                            by.name + " reports that " + job.id() +
                                (complete ? " is complete" : " has failed") + ", and its run " +
                                (given->run.empty()       ? "has not started"
                                 : given->outcome.empty() ? "continues"
                                                          : given->outcome),
                            {about(job.id()), by.name});
}

void GearmanWatch::given_back(Gearmand& at, const GearmanJob& job, const Gearmand::Who& by,
                              bool asked) {
  ++moves_[at.name()];
  promises_.log(at.name(), about(job.id()), "is queued again, was at " + by.name);
  if (!is_host(by.name)) return;
  Given* given = held(at, by.session, job.handle);
  if (given == nullptr) return;
  given->held = false;
  if (asked)
    return promises_.break_promise("a host sends CANT_DO only without jobs",
                                   by.name + " has had " + job.id(), {about(job.id()), by.name});
  if (given->alive && !in_error(by.name, at.name(), promises_.now() - max_silence))
    promises_.break_promise("a running job is not handed back",
                            job.id() + " runs at " + by.name + ", which has left " + at.name(),
                            {about(job.id()), by.name});
}

void GearmanWatch::strange_end(Gearmand& at, const Gearmand::Who& by, const std::string& handle) {
  if (!is_host(by.name)) return;
  promises_.break_promise("a host reports only on its own jobs",
                          by.name + " reports to " + at.name() + " on " + handle +
                              ", which this connection does not have",
                          {by.name, about(handle)});
}

void GearmanWatch::forgot_all(Gearmand& at) {
  for (Given& each : givens_)
    if (each.gearmand == at.name()) each.held = false;
}

// ---- at a host

/// Checks that an assigned job runs at most once.
bool GearmanWatch::child_born(const Child& child) {
  if (child.rule->kind() != SourceKind::gearman) return false;
  promises_.log(child.host, about(child.claim.item),
                "process " + std::to_string(child.pid) + " for run " + child.claim.run);
  const auto found = std::find_if(givens_.rbegin(), givens_.rend(), [&](const Given& each) {
    return each.host == child.host && each.id == child.claim.item && each.run.empty();
  });
  auto& living = living_[child.host];
  living.insert(child.claim.run);
  std::size_t limit = child.rule->concurrency;
  limits_[child.host] = limit;
  if (found == givens_.rend()) {
    promises_.break_promise("an assigned job runs once, on its host",
                            child.host + " runs " + child.claim.item,
                            {about(child.claim.item), child.host});
  } else {
    found->run = child.claim.run;
    found->alive = true;
    found->sends_complete = child.story.completes.has_value();
    runs_[found->run] = &*found;
    limit = std::max(limit, found->limit);
  }
  if (living.size() > limit)
    promises_.break_promise("concurrency is respected",
                            child.host + " has " + std::to_string(living.size()) + " runs of " +
                                list_ + ", and " + std::to_string(limit) + " are allowed",
                            {child.host});
  return true;
}

bool GearmanWatch::child_dead(const Child& child) {
  if (child.rule->kind() != SourceKind::gearman) return false;
  promises_.log(child.host, about(child.claim.item),
                "process " + std::to_string(child.pid) + " is gone");
  living_[child.host].erase(child.claim.run);
  if (runs_.contains(child.claim.run)) runs_[child.claim.run]->alive = false;
  return true;
}

bool GearmanWatch::run_over(const std::string&, const EndedRun& run) {
  if (run.rule->kind() != SourceKind::gearman) return false;
  const auto found = runs_.find(run.claim.run);
  if (found == runs_.end()) return true;
  Given& given = *found->second;
  const auto* cancelled = std::get_if<Cancelled>(&run.outcome);
  given.goes_back = cancelled != nullptr && !cancelled->by_operator;
  given.outcome = outcome_name(run.outcome);
  given.ended = promises_.now();
  return true;
}

// ---- at Redis

/// Checks that the history has only results that gearmand has received.
void GearmanWatch::after(Server&, const Server::Command& command, const Value&) {
  if (command.words.size() < 3 || command.words[0] != "LPUSH" ||
      (command.words[1] != list_ + ":runs" && command.words[1] != list_ + ":failed-runs"))
    return;
  for (std::size_t i = 2; i < command.words.size(); ++i)
    check_record(command.words[i], command.who);
}

void GearmanWatch::check_record(const std::string& entry, const std::string& who) {
  const std::string outcome = field_of(entry, "outcome");
  const auto found = runs_.find(field_of(entry, "run"));
  if (found == runs_.end() || outcome == "lost") return;
  const Given& given = *found->second;
  const bool complete = given.reported == Gearmand::Ending::complete;
  if (given.goes_back || (outcome == "succeeded" ? complete : given.reported.has_value())) return;
  promises_.break_promise(
      "a result without a confirmation is lost",
      who + " records that run " + given.run + " has " + outcome + ", and " + given.gearmand +
          (given.reported ? " has received another result" : " has received no result"),
      {about(given.id), given.host});
}

// ---- without faults

void GearmanWatch::check() {
  const Instant now = promises_.now();
  for (const Given& each : givens_) {
    if (!each.held || in_error(each.host, each.gearmand, now - max_silence)) continue;
    const auto living = living_.find(each.host);
    // A reload has lowered the limit: the job has the next free slot.
    const bool waits = living != living_.end() && living->second.size() >= limits_[each.host];
    if (each.run.empty() && !waits && now - each.at > max_unborn)
      return promises_.break_promise("an assigned job is started",
                                     each.host + " has " + each.id + " and does not run it",
                                     {about(each.id), each.host});
    if (!each.outcome.empty() && !each.goes_back && now - each.ended > max_untold)
      return promises_.break_promise("each result is sent",
                                     each.gearmand + " has not received the result of " + each.id,
                                     {about(each.id), each.host});
  }
  while (!givens_.empty() && !givens_.front().held && now - givens_.front().at > 10min) {
    runs_.erase(givens_.front().run);
    givens_.pop_front();
  }
}

void GearmanWatch::nothing_left() {
  for (const Given& each : givens_)
    if (each.held)
      promises_.break_promise("no lock outlives its holder",
                              each.gearmand + " has " + each.id + " assigned to " + each.host +
                                  " when all hosts have left",
                              {about(each.id), each.host});
  for (const auto& [host, runs] : living_)
    if (!runs.empty())
      promises_.break_promise("no child outlives its host", host + " has left " + *runs.begin(),
                              {host});
}

}  // namespace w8y::sim
