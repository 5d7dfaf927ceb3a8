// Network between hosts and servers: connections whose bytes are delayed, held up, or lost together
// with their connection.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loop/transport.hpp"
#include "simulation/service.hpp"
#include "simulation/world.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::sim {

/// Receiver of the incoming data of a host. Each delivery runs in an iteration of the host's loop.
class Inbox {
 public:
  virtual ~Inbox() = default;
  virtual void deliver(std::function<void()> what) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// Current state of the network between a host and a server.
struct Line {
  Duration least = std::chrono::microseconds(150);
  Duration most = std::chrono::microseconds(600);
  std::int64_t bytes_per_ms = 125'000;  ///< 1 Gbit/s
  bool held = false;                    ///< nothing arrives, and sent data waits
  bool refused = false;                 ///< new connections are refused
};

class SimulatedConnection;

class Network {
 public:
  explicit Network(World& world) : world_(world), random_(world.random.fork(1)) {}

  void add(Service& server) { servers_[server.name()] = &server; }
  void attach(const loop::Loop& loop, Inbox& inbox) { inboxes_[&loop] = &inbox; }
  void detach(const loop::Loop& loop);
  Line& line(const std::string& host, const std::string& server) { return lines_[{host, server}]; }

  /// Loss on the connections from a host to a server.
  enum class Loss {
    now,      ///< they break, with all data in flight
    request,  ///< the next connection with a request breaks before the request arrives
    reply,    ///< the next connection with a reply breaks before the reply arrives
    part,     ///< the same, but half of the reply arrives
    twice,    ///< nothing is lost, but the next reply arrives twice
    cut,      ///< a part of the next request arrives, then the connection breaks
  };
  /// `later`: number of replies that arrive before the loss.
  void lose(const std::string& host, const std::string& server, Loss loss, std::size_t later = 0);
  /// Cancels the losses that have not happened yet.
  void forget_losses();
  /// Called when a connection breaks by a loss that was requested before.
  std::function<void(const std::string& host, const std::string& server)> on_loss =
      [](const std::string&, const std::string&) {};

  std::unique_ptr<loop::Transport> make(loop::Loop& loop, const std::string& server,
                                        loop::Transport::Handler& handler);

 private:
  friend class SimulatedConnection;

  World& world_;
  Random random_;
  std::map<std::string, Service*> servers_;
  std::map<const loop::Loop*, Inbox*> inboxes_;
  std::map<std::pair<std::string, std::string>, Line> lines_;
  std::vector<std::weak_ptr<SimulatedConnection>> wires_;
};

}  // namespace w8y::sim
