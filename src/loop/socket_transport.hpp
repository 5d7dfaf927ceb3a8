// Transport over TCP and Unix sockets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/fd.hpp"
#include "core/timers.hpp"
#include "loop/address.hpp"
#include "loop/transport.hpp"
#include "loop/watch.hpp"

namespace w8y::loop {

/// Tries the addresses of a name in order, each for its share of the remaining time.
class SocketTransport final : public Transport {
 public:
  /// `timeout` limits all attempts to connect together.
  SocketTransport(Loop& loop, Endpoint place, Duration timeout, Handler& handler);
  ~SocketTransport() override;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  void connect() override;
  std::size_t write(std::string_view bytes) override;
  void close() override;

 private:
  enum class State {
    idle,
    looking_up,  ///< the resolver is working
    connecting,  ///< to the address before next_
    connected,
    failing,  ///< the handler will be called
    closed,
  };

  void on_addresses(std::vector<Address> addresses, const std::string& why);
  void try_next();
  enum class Attempt { failed, started, connected };
  Attempt try_address(const Address& address);
  void on_event(bool readable, bool writable);
  void on_connect_result();
  void on_connected();
  void read_some();
  void give_up();
  void fail(const std::string& why);
  void drop_socket();

  Loop& loop_;
  const Endpoint place_;
  Handler& handler_;
  State state_ = State::idle;
  Instant deadline_;
  std::unique_ptr<Lookup> lookup_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::string problem_;  // of the address tried last, or of a write
  Fd fd_;
  std::unique_ptr<Watch> watch_;
  // A Watch cannot be destroyed in its own callback: an attempt that fails there is cleaned up
  // before the next one.
  Timer timer_;
  bool write_failed_ = false;
};

}  // namespace w8y::loop
