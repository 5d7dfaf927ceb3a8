#include "support/sentinels.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/waiting.hpp"

namespace w8y::test {

namespace {

constexpr const char* service = "mymaster";

/// Returns a value from the "name\nvalue\n…" of SENTINEL MASTER.
std::string field(const std::string& text, const std::string& name) {
  const std::string all = "\n" + text + "\n";
  const auto found = all.find("\n" + name + "\n");
  if (found == std::string::npos) return {};
  const auto begin = found + name.size() + 2;
  return all.substr(begin, all.find('\n', begin) - begin);
}

}  // namespace

Sentinels::Sentinels() : Sentinels(Options{}) {}

Sentinels::Sentinels(const Options& options) {
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> config{"repl-diskless-sync-delay 0"};
    if (!options.password.empty()) config.push_back("masterauth " + options.password);
    if (i > 0) config.push_back("replicaof 127.0.0.1 " + std::to_string(servers[0]->port()));
    servers.push_back(std::make_unique<RedisServer>(
        RedisServer::Options{.config = config, .tcp = true, .password = options.password}));
  }
  for (int i = 1; i < 3; ++i)
    wait_until("a replica", [&] {
      return servers[static_cast<std::size_t>(i)]->info_text("master_link_status") == "up";
    });
  const std::string name = std::string(" ") + service + " ";
  std::vector<std::string> config{
      "sentinel monitor" + name + "127.0.0.1 " + std::to_string(servers[0]->port()) + " 2",
      "sentinel down-after-milliseconds" + name + "500",
      "sentinel failover-timeout" + name + "3000"};
  if (!options.password.empty()) config.push_back("sentinel auth-pass" + name + options.password);
  if (!options.sentinel_password.empty())
    config.push_back("sentinel sentinel-pass " + options.sentinel_password);
  for (int i = 0; i < 3; ++i)
    sentinels.push_back(std::make_unique<RedisServer>(RedisServer::Options{
        .config = config, .tcp = true, .sentinel = true, .password = options.sentinel_password}));
  for (const auto& sentinel : sentinels)
    wait_until("sentinels that know each other", [&] {
      const std::string known = sentinel->command({"SENTINEL", "MASTER", service});
      return field(known, "num-slaves") == "2" && field(known, "num-other-sentinels") == "2";
    });
}

std::string Sentinels::url(const std::vector<std::size_t>& seeds) const {
  std::string url;
  for (const std::size_t i : seeds)
    url += (url.empty() ? "redis+sentinel://127.0.0.1:" : ",127.0.0.1:") +
           std::to_string(sentinels[i]->port());
  return url + "/" + service;
}

RedisServer& Sentinels::primary(std::size_t sentinel) {
  const std::string answer =
      sentinels[sentinel]->command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
  const auto found = std::ranges::find_if(servers, [&](const auto& server) {
    return answer.ends_with(std::to_string(server->port()));
  });
  if (found == servers.end()) throw std::runtime_error("nobody's address: " + answer);
  return **found;
}

void Sentinels::wait_for_failover(const RedisServer& old, const std::vector<std::size_t>& by) {
  for (const std::size_t i : by) wait_until("a failover", [&] { return &primary(i) != &old; });
}

}  // namespace w8y::test
