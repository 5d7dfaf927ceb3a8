// GearmanSource: connections to the servers, and the jobs of a connection that breaks.
#include <algorithm>
#include <utility>

#include "core/gearman_settings.hpp"
#include "source/gearman/source.hpp"

namespace w8y::source {

/// Offers a changed function. Replaces busy connections, because CANT_DO would return their jobs.
/// An idle connection sends CANT_DO before its next GRAB_JOB.
void GearmanSource::offer_again() {
  std::vector<Line*> busy;
  for (const auto& line : lines_)
    if (!line->leaving && is_busy(*line)) busy.push_back(line.get());
  for (Line* line : busy) leave(*line);
  for (const auto& line : lines_) show(*line);
}

GearmanSource::Line* GearmanSource::line_of(const gearman::Worker& worker) {
  const auto found =
      std::ranges::find_if(lines_, [&](const auto& line) { return line->worker.get() == &worker; });
  return found == lines_.end() ? nullptr : found->get();
}

void GearmanSource::open(const GearmanServer& server) {
  auto line = std::make_unique<Line>();
  line->worker = host_.servers.connect(server, *this);
  lines_.push_back(std::move(line));
}

/// Closes a connection when its jobs have ended. No job is claimed from it any more, so that other
/// hosts get the rest.
void GearmanSource::leave(Line& line) {
  if (std::exchange(line.leaving, true)) return;
  host_.servers.forget(*line.worker);
  const GearmanServer server = line.worker->server();
  const auto& servers = host_.servers.servers();
  if (!retired_ && std::ranges::find(servers, server) != servers.end()) open(server);
  if (line.jobs == 0) let_go(line);
  // The claim in flight does not wait for this connection.
  if (out_) answer_.set(host_.clock.now(), [this] { go_on(); });
}

/// Destroys a connection later, because this may be inside one of its callbacks.
void GearmanSource::let_go(Line& line) {
  const auto found =
      std::ranges::find_if(lines_, [&](const auto& each) { return each.get() == &line; });
  gone_.push_back(std::move(*found));
  lines_.erase(found);
  sweep_.set(host_.clock.now(), [this] { gone_.clear(); });
}

/// Called when one of the connection's jobs has ended.
void GearmanSource::release(Line* line) {
  if (line == nullptr || --line->jobs > 0) return;
  if (line->leaving) {
    let_go(*line);
  } else {
    show(*line);
  }
}

void GearmanSource::on_servers() {
  if (retired_) return;
  const auto& wanted = host_.servers.servers();
  std::vector<Line*> old;
  // A connection that is not up is replaced as well, since its address may have changed.
  for (const auto& line : lines_)
    if (!line->leaving && (line->worker->state() != gearman::Worker::State::up ||
                           std::ranges::find(wanted, line->worker->server()) == wanted.end()))
      old.push_back(line.get());
  for (Line* line : old) leave(*line);
  for (const GearmanServer& server : wanted)
    if (std::ranges::none_of(lines_, [&](const auto& line) {
          return !line->leaving && line->worker->server() == server;
        }))
      open(server);
}

void GearmanSource::add_to(std::vector<GearmanStatus>& servers) const {
  for (const auto& line : lines_) {
    const std::string name = line->worker->server().to_string();
    const auto status = std::ranges::find(servers, name, &GearmanStatus::server);
    if (status == servers.end()) continue;
    status->jobs += line->jobs;
    if (line->leaving) continue;
    ++status->lists;
    if (line->worker->state() == gearman::Worker::State::up) ++status->connected;
  }
}

void GearmanSource::on_up(gearman::Worker& worker) {
  Line* const known = line_of(worker);
  if (known == nullptr) return;
  Line& line = *known;
  line.allowance = 1;
  line.dry = line.slow = false;
  line.confirmed = 0;
  if (!line.leaving) host_.servers.told_up(worker);
  if (out_) return go_on();
  stir();
}

void GearmanSource::on_down(gearman::Worker& worker, const std::string& why) {
  Line* const known = line_of(worker);
  if (known == nullptr) return;
  Line& line = *known;
  line.dry = line.slow = false;
  line.answered = true;
  if (!line.leaving) host_.servers.told_down(worker, why);
  const bool leaving = line.leaving;
  lose(line);
  if (leaving) {
    let_go(line);
  } else {
    show(line);
  }
  if (out_) return go_on();
  // The next claim reports that no server is available.
  if (std::ranges::none_of(lines_, [](const auto& each) {
        return each->worker->state() == gearman::Worker::State::up;
      }))
    stir();
}

/// Marks the jobs of a broken connection, which its server gives to other workers.
void GearmanSource::lose(Line& line) {
  std::vector<RunId> lost;
  for (auto& [run, held] : held_) {
    if (held.line != &line) continue;
    held.line = nullptr;
    held.server = line.worker->server();
    held.lost = held.mark == 0 || held.mark > line.confirmed;
    if (held.lost) lost.push_back(run);
  }
  std::vector<EndedRun> ended;
  for (auto end = ends_.begin(); end != ends_.end();) {
    if (end->second.line != &line) {
      ++end;
      continue;
    }
    ended.push_back(std::move(end->second.run));
    end = ends_.erase(end);
  }
  line.jobs = 0;
  drop_lost(claims_);
  drop_lost(late_);
  for (EndedRun& run : ended) {
    host_.servers.on_problem(line.worker->server(), rule_->prefix,
                             "the connection broke before gearmand confirmed the end of run " +
                                 run.claim.run + "; gearmand may send its job to another worker");
    record(std::move(run), true);
  }
  for (const RunId& run : lost)
    if (held_.contains(run)) told_.on_lease_lost(run);
  if (!ended.empty()) tell_if_settled();
}

void GearmanSource::drop_lost(std::vector<Claim>& claims) {
  std::erase_if(claims, [this](const Claim& claim) {
    const auto held = held_.find(claim.run);
    if (held->second.line != nullptr) return false;
    held_.erase(held);
    return true;
  });
}

void GearmanSource::on_error(gearman::Worker& worker, const std::string& why) {
  // Some versions of gearmand end a job when they receive WORK_EXCEPTION. They send this error for
  // the WORK_FAIL that follows.
  if (why.starts_with("JOB_NOT_FOUND")) return;
  host_.servers.on_problem(worker.server(), rule_->prefix, why);
}

void GearmanSource::offer(bool able) {
  able_ = able;
  for (const auto& line : lines_) show(*line);
}

/// Sends the function of a connection to its server. For gearmand, CANT_DO returns all jobs of the
/// function that the connection has. So it is sent only when there are none, and until then no job
/// is claimed.
void GearmanSource::show(Line& line) {
  if (!line.leaving && (able_ || !is_busy(line)))
    line.worker->offer(rule_->gearman().function, able_);
}

}  // namespace w8y::source
