#include "simulation/gearmand.hpp"

#include <algorithm>
#include <utility>

namespace w8y::sim {

namespace {

/// Time until gearmand sends a packet.
constexpr Duration takes = std::chrono::microseconds(30);

std::size_t priority_of(Say type) {
  switch (type) {
    case Say::submit_job_high:
    case Say::submit_job_high_bg:
      return 0;
    case Say::submit_job_low:
    case Say::submit_job_low_bg:
      return 2;
    default:
      return 1;
  }
}

const char* not_found(Say type) {
  switch (type) {
    case Say::work_exception:
      return "An exception was received for a job that does not exist";
    case Say::work_data:
    case Say::work_warning:
      return "Job does not exist on server";
    default:
      return "Job given in work result not found";
  }
}

bool is_in_background(Say type) {
  return type == Say::submit_job_bg || type == Say::submit_job_high_bg ||
         type == Say::submit_job_low_bg;
}

}  // namespace

// ---- connections

void Gearmand::connected(Peer& peer) {
  Session session;
  session.number = ++sessions_made_;
  session.who = peer.name();
  order_[session.number] = &peer;
  sessions_[&peer] = std::move(session);
}

void Gearmand::gone(Peer& peer) {
  const auto found = sessions_.find(&peer);
  if (found == sessions_.end()) return;
  Session session = std::move(found->second);
  sessions_.erase(found);
  order_.erase(session.number);
  for (auto& [handle, job] : jobs_)
    if (job.clients.erase(session.number) > 0 && job.clients.empty()) job.dropped = true;
  while (!session.abilities.empty()) {
    Ability ability = std::move(session.abilities.front());
    session.abilities.pop_front();
    give_back(session, ability, false);
  }
}

void Gearmand::received(Peer& peer, std::string bytes) {
  const auto found = sessions_.find(&peer);
  if (!up_ || found == sessions_.end()) return;
  found->second.input += bytes;
  if (!hung_) work(peer);
}

void Gearmand::work(Peer& peer) {
  // A packet may end a connection.
  for (auto found = sessions_.find(&peer); found != sessions_.end();
       found = sessions_.find(&peer)) {
    const auto packet = parse_packet(found->second.input);
    if (!packet) return;
    ++packets_[found->second.who];
    handle_packet(peer, found->second, *packet);
  }
}

/// Sends a packet after all earlier ones.
void Gearmand::send(Peer& peer, const Session& session, std::string bytes) {
  world_.after(takes, [this, &peer, number = session.number, bytes = std::move(bytes)] {
    if (order_.contains(number)) peer.replied(bytes);
  });
}

void Gearmand::restart(Duration away) {
  if (!up_) return;
  world_.log(name_, "", "dies with all its jobs");
  up_ = hung_ = false;
  const auto peers = std::exchange(order_, {});
  sessions_.clear();
  functions_.clear();
  jobs_.clear();
  jobs_made_ = 0;
  if (watcher != nullptr) watcher->forgot_all(*this);
  for (const auto& [number, peer] : peers) peer->closed();
  world_.after(away, [this] {
    up_ = true;
    world_.log(name_, "", "starts without jobs");
  });
}

void Gearmand::hang(bool hung) {
  hung_ = hung;
  if (hung) return;
  for (const auto& [number, peer] : std::map(order_))
    if (order_.contains(number)) work(*peer);
}

// ---- received packets

void Gearmand::handle_packet(Peer& peer, Session& session, const GearmanPacket& packet) {
  switch (packet.type) {
    case Say::submit_job:
    case Say::submit_job_bg:
    case Say::submit_job_high:
    case Say::submit_job_high_bg:
    case Say::submit_job_low:
    case Say::submit_job_low_bg:
      return submit(peer, session, packet);
    case Say::echo_req:
      return send(peer, session, from_gearmand(Say::echo_res, {packet.body}));
    default:
      return handle_worker(peer, session, packet);
  }
}

void Gearmand::handle_worker(Peer& peer, Session& session, const GearmanPacket& packet) {
  switch (packet.type) {
    case Say::can_do:
      functions_[packet.body];
      return session.abilities.push_front({packet.body, {}});
    case Say::cant_do:
      return cant_do(session, packet.body);
    case Say::reset_abilities:
      while (!session.abilities.empty())
        cant_do(session, std::string(session.abilities.front().function));
      return;
    case Say::pre_sleep:
      return pre_sleep(peer, session);
    case Say::grab_job:
    case Say::grab_job_uniq:
      return grab(peer, session, packet.type == Say::grab_job_uniq);
    case Say::work_status:
    case Say::work_complete:
    case Say::work_fail:
    case Say::work_exception:
    case Say::work_data:
    case Say::work_warning:
      return send_noops(peer, session, packet);
    default:
      return;
  }
}

// ---- clients

void Gearmand::submit(Peer& peer, Session& session, const GearmanPacket& packet) {
  const auto said = packet.arguments(3);
  functions_[said[0]];
  const auto joins = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& each) {
    return !said[1].empty() && each.second.function == said[0] && each.second.unique == said[1];
  });
  const bool anew = joins == jobs_.end();
  const std::string handle =
      anew ? "H:" + name_ + ':' + std::to_string(++jobs_made_) : joins->second.handle;
  GearmanJob& job = jobs_[handle];
  if (!is_in_background(packet.type)) job.clients.insert(session.number);
  const auto created = [&] { send(peer, session, from_gearmand(Say::job_created, {handle})); };
  if (!anew) return created();
  job.handle = handle;
  job.function = said[0];
  job.unique = said[1];
  job.workload = said[2];
  job.priority = priority_of(packet.type);
  queue(job);
  created();
}

/// Adds a job to the end of its queue and wakes sleeping workers.
void Gearmand::queue(GearmanJob& job) {
  for (const auto& [number, peer] : order_) {
    Session& session = sessions_.at(peer);
    const bool able =
        std::any_of(session.abilities.begin(), session.abilities.end(),
                    [&](const Ability& each) { return each.function == job.function; });
    if (!able || !session.asleep || std::exchange(session.woken, true)) continue;
    send(*peer, session, from_gearmand(Say::noop, {}));
  }
  job.worker = 0;
  job.since = world_.now();
  functions_[job.function].queues.at(job.priority).push_back(job.handle);
}

void Gearmand::send_to_clients(const GearmanJob& job, const std::string& bytes) {
  for (const std::uint64_t client : job.clients) {
    const auto peer = order_.find(client);
    if (peer != order_.end()) send(*peer->second, sessions_.at(peer->second), bytes);
  }
}

// ---- workers

/// Removes a function of a worker. Jobs of that function are queued again.
void Gearmand::cant_do(Session& session, const std::string& function) {
  const auto is_it = [&](const Ability& each) { return each.function == function; };
  auto& all = session.abilities;
  for (auto found = std::find_if(all.begin(), all.end(), is_it); found != all.end();
       found = std::find_if(all.begin(), all.end(), is_it)) {
    Ability ability = std::move(*found);
    all.erase(found);
    give_back(session, ability, true);
  }
}

/// Queues all jobs of an ability again, the last assigned one first.
void Gearmand::give_back(Session& session, Ability& ability, bool asked) {
  while (!ability.jobs.empty()) {
    GearmanJob& job = jobs_.at(ability.jobs.back());
    ability.jobs.pop_back();
    if (watcher != nullptr)
      watcher->given_back(*this, job, Who{session.who, session.number}, asked);
    queue(job);
  }
}

void Gearmand::grab(Peer& peer, Session& session, bool unique) {
  session.asleep = session.woken = false;
  GearmanJob* job = next_job(session);
  if (job == nullptr) return send(peer, session, from_gearmand(Say::no_job, {}));
  job->worker = session.number;
  if (unique) {
    send(peer, session,
         from_gearmand(Say::job_assign_uniq,
                       {job->handle, job->function, job->unique, job->workload}));
  } else {
    send(peer, session,
         from_gearmand(Say::job_assign, {job->handle, job->function, job->workload}));
  }
  if (watcher != nullptr) watcher->given(*this, *job, Who{session.who, session.number});
}

GearmanJob* Gearmand::next_job(Session& session) {
  for (Ability& ability : session.abilities)
    for (auto& waiting : functions_[ability.function].queues)
      while (!waiting.empty()) {
        const std::string handle = std::move(waiting.front());
        waiting.pop_front();
        if (jobs_.at(handle).dropped) {
          forget(handle);
          continue;
        }
        ability.jobs.push_back(handle);
        return &jobs_.at(handle);
      }
  return nullptr;
}

/// Returns whether a job is queued for a worker. Deletes queued jobs whose clients are gone.
bool Gearmand::has_job(Session& session) {
  for (const Ability& ability : session.abilities)
    for (auto& waiting : functions_[ability.function].queues)
      while (!waiting.empty()) {
        if (!jobs_.at(waiting.front()).dropped) return true;
        forget(std::string(waiting.front()));
        waiting.pop_front();
      }
  return false;
}

void Gearmand::pre_sleep(Peer& peer, Session& session) {
  if (has_job(session)) return send(peer, session, from_gearmand(Say::noop, {}));
  session.asleep = true;
}

GearmanJob* Gearmand::job_of(const Session& session, const std::string& handle) {
  const auto found = jobs_.find(handle);
  return found == jobs_.end() || found->second.worker != session.number ? nullptr : &found->second;
}

void Gearmand::send_noops(Peer& peer, Session& session, const GearmanPacket& packet) {
  const bool is_over = packet.type == Say::work_fail;
  const std::string handle = is_over ? packet.body : packet.arguments(2)[0];
  GearmanJob* job = job_of(session, handle);
  if (job == nullptr) {
    if (watcher != nullptr && packet.type != Say::work_fail)
      watcher->strange_end(*this, Who{session.who, session.number}, handle);
    return send(peer, session,
                from_gearmand(Say::error, {"JOB_NOT_FOUND", not_found(packet.type)}));
  }
  // A client that has not requested exceptions gets a failure.
  const bool reported_as_failure = packet.type == Say::work_exception;
  send_to_clients(*job, reported_as_failure ? from_gearmand(Say::work_fail, {handle, ""})
                                            : from_gearmand(packet.type, {packet.body}));
  if (packet.type == Say::work_complete) return end(session, *job, Ending::complete);
  if (is_over || packet.type == Say::work_exception) end(session, *job, Ending::fail);
}

void Gearmand::end(Session& session, GearmanJob& job, Ending how) {
  for (Ability& ability : session.abilities) std::erase(ability.jobs, job.handle);
  if (watcher != nullptr) watcher->ended(*this, job, Who{session.who, session.number}, how);
  forget(std::string(job.handle));
}

void Gearmand::forget(const std::string& handle) {
  jobs_.erase(handle);
}

// ---- state

std::size_t Gearmand::waiting(const std::string& function) const {
  const auto found = functions_.find(function);
  if (found == functions_.end()) return 0;
  std::size_t sum = 0;
  for (const auto& queue : found->second.queues) sum += queue.size();
  return sum;
}

const GearmanJob* Gearmand::max_waiting(const std::string& function) const {
  const GearmanJob* longest = nullptr;
  for (const auto& [handle, job] : jobs_)
    if (job.function == function && job.worker == 0 && !job.dropped &&
        (longest == nullptr || job.since < longest->since))
      longest = &job;
  return longest;
}

std::size_t Gearmand::sessions_of(const std::string& who) const {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&](const auto& each) { return each.second.who == who; }));
}

std::uint64_t Gearmand::packets_of(const std::string& who) const {
  const auto found = packets_.find(who);
  return found == packets_.end() ? 0 : found->second;
}

std::string Gearmand::status() const {
  std::string text;
  for (const auto& [name, function] : functions_) {
    std::size_t all = 0, running = 0, workers = 0;
    for (const auto& [handle, job] : jobs_) {
      if (job.function != name) continue;
      ++all;
      if (job.worker != 0) ++running;
    }
    for (const auto& [peer, session] : sessions_)
      for (const Ability& ability : session.abilities)
        if (ability.function == name) ++workers;
    text += name + '\t' + std::to_string(all) + '\t' + std::to_string(running) + '\t' +
            std::to_string(workers) + '\n';
  }
  return text;
}

}  // namespace w8y::sim
