// What lies between hosts and servers: connections whose bytes are late, held up, or lost with the
// connection they were on.
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

/// A host's side of its connections: what comes is told in a turn of its loop.
class Inbox {
 public:
  virtual ~Inbox() = default;
  virtual void deliver(std::function<void()> what) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// How a host and a server reach each other now.
struct Line {
  Duration least = std::chrono::microseconds(150);
  Duration most = std::chrono::microseconds(600);
  std::int64_t bytes_per_ms = 125'000;  ///< 1 Gbit/s
  bool held = false;                    ///< nothing gets through; what was sent waits
  bool refused = false;                 ///< connections can't be made
};

class SimulatedConnection;

class Network {
 public:
  explicit Network(World& world) : world_(world), random_(world.random.fork(1)) {}

  void add(Service& server) { servers_[server.name()] = &server; }
  void attach(const loop::Loop& loop, Inbox& inbox) { inboxes_[&loop] = &inbox; }
  void detach(const loop::Loop& loop);
  Line& line(const std::string& host, const std::string& server) { return lines_[{host, server}]; }

  /// What happens to the connections of a host to a server.
  enum class Loss {
    now,      ///< they break, with all that is on its way
    request,  ///< the next one that carries a request breaks before that comes
    reply,    ///< the next one that carries a reply breaks before that comes
    part,     ///< the same, with half of the reply
    twice,    ///< nothing is lost: the next reply comes twice
    cut,      ///< of the next request a part comes, then it breaks
  };
  /// `delayed`: so many that carry one come before.
  void lose(const std::string& host, const std::string& server, Loss loss, std::size_t later = 0);
  /// What has not been lost by now never will be.
  void forget_losses();
  /// One of its connections breaks by a loss that was due later.
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
