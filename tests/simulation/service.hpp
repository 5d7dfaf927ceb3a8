// Interface of a server to which hosts connect.
#pragma once

#include <string>

namespace w8y::sim {

class Service {
 public:
  /// Receiver of the replies of the server.
  class Peer {
   public:
    virtual ~Peer() = default;
    virtual void replied(std::string bytes) = 0;
    /// Called when the connection was closed by the server.
    virtual void closed() = 0;
    [[nodiscard]] virtual const std::string& name() const = 0;
  };

  virtual ~Service() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Called when a host tries to connect.
  virtual void tried(const std::string& who) = 0;
  [[nodiscard]] virtual bool accepts() const = 0;
  /// Returns whether the server hangs and reads nothing.
  [[nodiscard]] virtual bool hangs() const = 0;
  virtual void connected(Peer& peer) = 0;
  virtual void gone(Peer& peer) = 0;
  virtual void received(Peer& peer, std::string bytes) = 0;
};

}  // namespace w8y::sim
