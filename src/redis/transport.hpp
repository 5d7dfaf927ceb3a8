// What carries the bytes: the port behind which TCP, unix sockets and TLS look alike.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

struct ClientOptions;

/// One connection, once. Nothing is told from inside its own functions, and nothing at all after
/// close(). It must not be destroyed in one of its callbacks; to close it there is fine.
class Transport {
 public:
  class Handler {
   public:
    virtual void on_connected() = 0;
    /// The view is valid only during the call.
    virtual void on_bytes(std::string_view bytes) = 0;
    /// There is room again, after a write() that took less than it was given.
    virtual void on_room() = 0;
    /// It could not be made, or has ended; nothing comes after this.
    virtual void on_broken(const std::string& why) = 0;

   protected:
    ~Handler() = default;
  };

  virtual ~Transport() = default;
  virtual void connect() = 0;
  /// Once connected: sends what it can at once and returns how much that was. What it returns may
  /// be a little more than what has left this host, never less.
  virtual std::size_t write(std::string_view bytes) = 0;
  virtual void close() = 0;
};

/// To the one server of options.url (tcp or unix_socket), plain or with TLS as the URL asks.
std::unique_ptr<Transport> make_transport(loop::Loop& loop, const ClientOptions& options,
                                          Transport::Handler& handler);

/// TLS is a library of its own (tls_transport.hpp), so that a program that is started for one item
/// doesn't carry it. Without it, a URL that asks for TLS is answered with a sentence.
using TlsMaker = std::unique_ptr<Transport> (*)(loop::Loop& loop, const ClientOptions& options,
                                                Transport::Handler& handler);
void provide_tls(TlsMaker maker);

}  // namespace w8y::redis
