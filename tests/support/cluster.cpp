#include "support/cluster.hpp"

#include <sstream>
#include <stdexcept>

#include "support/waiting.hpp"

namespace w8y::test {

namespace {

constexpr int slots = 16384;
constexpr std::size_t primaries = 3;

std::string at(std::size_t number) {
  return std::to_string(number);
}

}  // namespace

Cluster::Cluster() : Cluster(Options{}) {}

Cluster::Cluster(const Options& options) {
  std::vector<std::string> config{
      "cluster-enabled yes", "cluster-node-timeout 500", "cluster-replica-validity-factor 0",
      "cluster-allow-replica-migration no", "repl-diskless-sync-delay 0"};
  if (!options.password.empty()) config.push_back("masterauth " + options.password);
  config.insert(config.end(), options.config.begin(), options.config.end());
  const std::size_t count = options.replicas ? 2 * primaries : primaries;
  for (std::size_t i = 0; i < count; ++i)
    nodes.push_back(std::make_unique<RedisServer>(
        RedisServer::Options{.config = config, .tcp = true, .password = options.password}));
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i]->command({"CLUSTER", "SET-CONFIG-EPOCH", at(i + 1)});
    if (i < primaries)
      nodes[i]->command({"CLUSTER", "ADDSLOTSRANGE", at(i * slots / primaries),
                         at((i + 1) * slots / primaries - 1)});
    if (i > 0)
      nodes[i]->command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes[0]->port())});
  }
  const auto agree = [&] {
    for (const auto& node : nodes) {
      const std::string info = node->command({"CLUSTER", "INFO"});
      if (info.find("cluster_state:ok") == std::string::npos ||
          info.find("cluster_known_nodes:" + at(count) + "\r") == std::string::npos)
        return false;
    }
    return true;
  };
  wait_until("a cluster", agree);
  for (std::size_t i = primaries; i < count; ++i)
    wait_until("a replica to know its primary", [&] {
      return nodes[i]->command({"CLUSTER", "REPLICATE", id(i - primaries)}) == "OK";
    });
  for (std::size_t i = primaries; i < count; ++i)
    wait_until("a replica", [&] { return nodes[i]->info_text("master_link_status") == "up"; });
  wait_until("a cluster", agree);
  // A primary counts votes only for replicas that it knows.
  for (std::size_t i = 0; i < primaries && options.replicas; ++i)
    wait_until("the replicas to be known", [&] {
      const std::string known = nodes[i]->command({"CLUSTER", "NODES"});
      std::size_t found = 0;
      for (auto place = known.find("slave"); place != std::string::npos;
           place = known.find("slave", place + 1))
        ++found;
      return found == primaries;
    });
}

std::string Cluster::url(const std::vector<std::size_t>& seeds) const {
  std::string url;
  for (const std::size_t i : seeds)
    url += (url.empty() ? "redis+cluster://127.0.0.1:" : ",127.0.0.1:") +
           std::to_string(nodes[i]->port());
  return url;
}

const RedisServer& Cluster::running() const {
  for (const auto& node : nodes)
    if (node->pid() > 0) return *node;
  throw std::runtime_error("no node runs");
}

std::string Cluster::slot_of(const std::string& key) const {
  return running().command({"CLUSTER", "KEYSLOT", key});
}

std::string Cluster::id(std::size_t node) const {
  return nodes[node]->command({"CLUSTER", "MYID"});
}

std::size_t Cluster::owner_of(const std::string& key) const {
  const int slot = std::stoi(slot_of(key));
  // First and last hash slot, then host, port, ID and an empty array of each node.
  std::istringstream lines(running().command({"CLUSTER", "SLOTS"}));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  for (std::size_t i = 0; i + 3 < all.size(); ++i) {
    if (all[i + 2] != "127.0.0.1" || all[i].size() > 5 || all[i + 1].size() > 5) continue;
    if (all[i].empty() || all[i + 1].empty()) continue;
    if (std::stoi(all[i]) > slot || std::stoi(all[i + 1]) < slot) continue;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (std::to_string(nodes[n]->port()) == all[i + 3]) return n;
  }
  throw std::runtime_error("nobody serves " + key);
}

void Cluster::start_move(const std::string& slot, std::size_t from, std::size_t to) const {
  nodes[to]->command({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)});
  nodes[from]->command({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)});
}

void Cluster::move_key(const std::string& key, std::size_t from, std::size_t to) const {
  nodes[from]->command(
      {"MIGRATE", "127.0.0.1", std::to_string(nodes[to]->port()), key, "0", "5000"});
}

void Cluster::end_move(const std::string& slot, std::size_t from, std::size_t to) const {
  const std::string new_owner = id(to);
  nodes[to]->command({"CLUSTER", "SETSLOT", slot, "NODE", new_owner});
  nodes[from]->command({"CLUSTER", "SETSLOT", slot, "NODE", new_owner});
}

}  // namespace w8y::test
