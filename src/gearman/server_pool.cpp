#include "gearman/server_pool.hpp"

#include <algorithm>
#include <utility>

#include "core/item.hpp"

namespace w8y::gearman {

ServerPool::ServerPool(loop::Loop& loop, EventHandler& events, std::uint64_t seed,
                       MakeTransport make)
    : loop_(loop), events_(events), seed_(seed), make_(std::move(make)) {}

void ServerPool::use(const GearmanServers& settings, const std::string& client_id) {
  if (settings_ == settings && client_id_ == client_id) return;
  settings_ = settings;
  client_id_ = client_id;
  std::erase_if(known_, [&](const auto& each) {
    return std::ranges::find(settings_.servers, each.first) == settings_.servers.end();
  });
  const std::set<ServersUser*> users = users_;
  for (ServersUser* user : users) user->on_servers();
}

std::unique_ptr<Worker> ServerPool::connect(const GearmanServer& server, WorkerHandler& handler) {
  WorkerTerms terms;
  terms.server = server;
  terms.client_id = client_id_;
  terms.connect_timeout = settings_.connect_timeout;
  terms.max_workload = max_item;
  seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
  terms.seed = seed_;
  terms.make = make_;
  return std::make_unique<SocketWorker>(loop_, std::move(terms), handler);
}

std::vector<GearmanStatus> ServerPool::status() const {
  std::vector<GearmanStatus> all;
  for (const GearmanServer& server : settings_.servers) {
    GearmanStatus& status = all.emplace_back();
    status.server = server.to_string();
    const auto known = known_.find(server);
    if (known == known_.end() || known->second.error.empty()) continue;
    status.error = known->second.error;
    status.away_since = loop_.clock().wall() -
                        std::chrono::duration_cast<WallTime>(loop_.now() - known->second.since);
  }
  for (const ServersUser* user : users_) user->add_to(all);
  return all;
}

void ServerPool::told_up(const Worker& worker) {
  Known& known = known_[worker.server()];
  known.away.erase(&worker);
  if (!std::exchange(known.reached, true)) {
    known.error.clear();
    return events_.on_event(
        GearmanChanged{true, worker.server().to_string(), {}, true, Duration{0}});
  }
  recover(worker.server(), known);
}

void ServerPool::told_down(const Worker& worker, const std::string& why) {
  Known& known = known_[worker.server()];
  known.away.insert(&worker);
  if (!known.error.empty()) return;
  known.error = why;
  known.since = loop_.now();
  events_.on_event(GearmanChanged{false, worker.server().to_string(), why, false, Duration{0}});
}

void ServerPool::forget(const Worker& worker) {
  const auto known = known_.find(worker.server());
  if (known == known_.end() || known->second.away.erase(&worker) == 0) return;
  // The last user of the unavailable connection has gone, so its recovery would not be noticed.
  if (known->second.away.empty()) known->second.error.clear();
}

/// Reports the recovery when all connections to the server are up again.
void ServerPool::recover(const GearmanServer& server, Known& known) {
  if (!known.away.empty() || known.error.empty()) return;
  known.error.clear();
  events_.on_event(GearmanChanged{true, server.to_string(), {}, false, loop_.now() - known.since});
}

void ServerPool::on_problem(const GearmanServer& server, const std::string& list,
                            const std::string& why) {
  events_.on_event(GearmanProblem{server.to_string(), list, why});
}

}  // namespace w8y::gearman
