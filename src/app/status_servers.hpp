// Status API on each status address of the config.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/refused_tokens.hpp"
#include "core/subsystem.hpp"
#include "http/server.hpp"
#include "http/tcp_gate.hpp"
#include "loop/loop.hpp"
#include "ops/log.hpp"

namespace w8y::app {

/// Status servers. A reload listens on the new addresses before it closes the old ones. An address
/// in both configs keeps its clients. The token is read at the start and at each reload.
class StatusServers final : public Subsystem {
 public:
  /// `handler` handles the requests of all addresses.
  StatusServers(loop::Loop& loop, ops::LineLog& log, http::HttpHandler& handler)
      : loop_(loop),
        log_(log),
        handler_(handler),
        refused_tokens_(log, loop.clock(), loop.timers()),
        gate_([this](const http::HttpRequest& request) { refused_tokens_.add(request); }) {}

  /// Starts the servers. Throws http::SocketInUse if another w8yd has an address, because requests
  /// would reach the wrong w8yd. Throws std::runtime_error if status_token_file has no token. If an
  /// address is not available for another reason, w8yd runs without it, and each reload tries
  /// again.
  void start(const Config& config) override;
  std::string prepare(const Config& running, const Config& wanted) override;
  void abandon() override;
  void commit(const Config& wanted) override;
  void applied(const Config& config) override;
  void stop() override {
    servers_.clear();
    refused_tokens_.flush();
  }

 private:
  using Servers = std::map<std::string, std::unique_ptr<http::HttpServer>>;  ///< by address

  std::unique_ptr<http::HttpServer> serve_at(const std::string& address);
  std::unique_ptr<http::HttpServer> serve_instead(const std::string& address, const Config& wanted);
  std::string own_in_the_way(const std::string& address, const Config& wanted) const;
  void take_back();

  loop::Loop& loop_;
  ops::LineLog& log_;
  http::HttpHandler& handler_;
  RefusedTokens refused_tokens_;
  http::TcpGate gate_;
  Secret next_token_;
  Servers servers_;
  Servers next_;  ///< on new addresses
  /// Addresses of this host that conflicted with the new ones: same port, and not in the new
  /// config.
  std::vector<std::string> displaced_;
};

}  // namespace w8y::app
