// Whatever hosts connect to: the network knows no more of it.
#pragma once

#include <string>

namespace w8y::sim {

class Service {
 public:
  /// Where what it says goes.
  class Peer {
   public:
    virtual ~Peer() = default;
    virtual void replied(std::string bytes) = 0;
    /// The connection is gone.
    virtual void closed() = 0;
    [[nodiscard]] virtual const std::string& name() const = 0;
  };

  virtual ~Service() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// A host tries to make a connection.
  virtual void tried(const std::string& who) = 0;
  [[nodiscard]] virtual bool accepts() const = 0;
  /// It reads nothing.
  [[nodiscard]] virtual bool hangs() const = 0;
  virtual void connected(Peer& peer) = 0;
  virtual void gone(Peer& peer) = 0;
  virtual void received(Peer& peer, std::string bytes) = 0;
};

}  // namespace w8y::sim
