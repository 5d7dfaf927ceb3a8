// What carries the bytes of a connection: the port behind which TCP, unix sockets and TLS look
// alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace w8y::loop {

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

}  // namespace w8y::loop
