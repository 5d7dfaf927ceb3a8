#include "app/status_servers.hpp"

#include <algorithm>

#include "ops/unix_listener.hpp"

namespace w8y::app {

namespace {

bool names(const Config& config, const std::string& address) {
  const auto& all = config.supervisor.status;
  return std::find(all.begin(), all.end(), address) != all.end();
}

}  // namespace

std::unique_ptr<ops::HttpServer> StatusServers::serve_at(const std::string& address) {
  const std::string path = address.substr(std::string("unix:").size());
  auto server =
      std::make_unique<ops::HttpServer>(loop_, path, handler_, ops::HttpLimits{}, ops::HttpGate{},
                                        [this](const std::string& complaint) {
                                          log_.debug(complaint, {{"from", "http"}});
                                        });
  log_.info("status", {{"address", address}});
  return server;
}

void StatusServers::start(const Config& config) {
  for (const auto& address : config.supervisor.status) {
    try {
      servers_[address] = serve_at(address);
    } catch (const ops::SocketInUse&) {
      throw;
    } catch (const std::exception& error) {
      servers_.erase(address);
      log_.error("can't serve the status API at this address; all else goes on",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
}

std::string StatusServers::prepare(const Config& running, const Config& wanted) {
  for (const auto& address : wanted.supervisor.status) {
    if (servers_.contains(address)) continue;
    try {
      next_[address] = serve_at(address);
    } catch (const std::exception& error) {
      next_.erase(address);
      if (!names(running, address))
        return "the status address " + address + " can't be had: " + error.what();
      // Nothing about it has changed: it could not be had before.
      log_.error("can't serve the status API at this address",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
  return {};
}

void StatusServers::applied(const Config& config) {
  std::erase_if(servers_, [&](const auto& server) { return !names(config, server.first); });
  servers_.merge(next_);
  next_.clear();
}

}  // namespace w8y::app
