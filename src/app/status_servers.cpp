#include "app/status_servers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/config.hpp"
#include "core/status_address.hpp"
#include "core/status_token.hpp"
#include "http/listener.hpp"
#include "http/unix_listener.hpp"

namespace w8y::app {

namespace {

bool names(const Config& config, const std::string& address) {
  const auto& all = config.supervisor.status;
  return std::find(all.begin(), all.end(), address) != all.end();
}

/// Limits for TCP, whose clients are unknown: lower for each client, with spare connections for new
/// clients.
constexpr http::HttpLimits tcp_limits = {.connections = 48,
                                         .spare = 16,
                                         .body = std::size_t{256} << 10,
                                         .streams = 32,
                                         .unread = std::size_t{64} << 20};

/// Returns the names of this host, in addition to its addresses.
std::vector<std::string> names_of(const SupervisorSettings& supervisor) {
  std::vector<std::string> names = supervisor.status_allowed_hosts;
  for (const std::string& name : {supervisor.host, system_config_host().hostname()}) {
    names.push_back(name);
    names.push_back(name.substr(0, name.find('.')));
  }
  return names;
}

/// Reads the token. Returns why there is no token although the config names a file.
std::string read_token(const Config& config, Secret& into) {
  const std::string& path = config.supervisor.status_token_file;
  if (path.empty()) return {};
  StatusToken token = read_status_token(path);
  into = std::move(token.token);
  return token.problem.empty() ? std::string() : "status_token_file " + path + " " + token.problem;
}

/// Returns why another user can now replace the socket at `address`; empty: no other user can.
std::string replaceable(const std::string& address) {
  StatusAddress at;
  parse_status_address(address, at);
  if (!at.is_unix()) return {};
  try {
    http::check_socket_directory(at.path);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::unique_ptr<http::HttpServer> StatusServers::serve_at(const std::string& address) {
  StatusAddress at;
  parse_status_address(address, at);
  http::HttpGate gate;
  if (!at.is_unix())
    gate = [this](const http::HttpRequest& request) { return gate_.check(request); };
  const auto complain = [this](const std::string& complaint) {
    log_.debug(complaint, {{"from", "http"}});
  };
  auto server = std::make_unique<http::HttpServer>(loop_, http::listen_at(at), handler_,
                                                   at.is_unix() ? http::HttpLimits{} : tcp_limits,
                                                   std::move(gate), complain);
  log_.info("status", {{"address", address}});
  return server;
}

void StatusServers::start(const Config& config) {
  Secret token;
  if (const std::string why = read_token(config, token); !why.empty())
    throw std::runtime_error(why);
  gate_.set(names_of(config.supervisor), std::move(token));
  for (const auto& address : config.supervisor.status) {
    try {
      servers_[address] = serve_at(address);
    } catch (const http::SocketInUse&) {
      throw;
    } catch (const std::exception& error) {
      servers_.erase(address);
      log_.error("cannot serve the status API at this address",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
}

/// Returns an address of this host that conflicts with `address`, as 127.0.0.1:80 with 0.0.0.0:80.
/// Empty: there is none.
std::string StatusServers::own_in_the_way(const std::string& address, const Config& wanted) const {
  StatusAddress at;
  parse_status_address(address, at);
  if (at.is_unix()) return {};
  for (const auto& [text, server] : servers_) {
    StatusAddress own;
    parse_status_address(text, own);
    if (!own.is_unix() && own.port == at.port && own.ipv6 == at.ipv6 && !names(wanted, text))
      return text;
  }
  return {};
}

std::unique_ptr<http::HttpServer> StatusServers::serve_instead(const std::string& address,
                                                               const Config& wanted) {
  for (;;) {
    try {
      return serve_at(address);
    } catch (const http::SocketInUse&) {
      const std::string own = own_in_the_way(address, wanted);
      if (own.empty()) throw;
      servers_.erase(own);
      displaced_.push_back(own);
    }
  }
}

void StatusServers::take_back() {
  for (const std::string& address : std::exchange(displaced_, {})) {
    try {
      servers_[address] = serve_at(address);
    } catch (const std::exception& error) {
      servers_.erase(address);
      log_.error("status address lost, retrying at next reload",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
}

std::string StatusServers::prepare(const Config& running, const Config& wanted) {
  if (std::string why = read_token(wanted, next_token_); !why.empty()) return why;
  for (const auto& address : wanted.supervisor.status) {
    if (servers_.contains(address)) {
      if (std::string why = replaceable(address); !why.empty()) return why;
      continue;
    }
    try {
      next_[address] = serve_instead(address, wanted);
    } catch (const std::exception& error) {
      next_.erase(address);
      if (!names(running, address))
        return "the status address " + address + " is not available: " + error.what();
      // The config of the address has not changed: it was not available before.
      log_.error("cannot serve the status API at this address",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
  return {};
}

void StatusServers::abandon() {
  next_.clear();
  next_token_ = {};
  take_back();
}

void StatusServers::commit(const Config& wanted) {
  gate_.set(names_of(wanted.supervisor), std::exchange(next_token_, {}));
}

void StatusServers::applied(const Config& config) {
  std::erase_if(servers_, [&](const auto& server) { return !names(config, server.first); });
  servers_.merge(next_);
  next_.clear();
  displaced_.clear();
}

}  // namespace w8y::app
