// Interface of the byte stream of a connection: TCP, Unix socket or TLS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace w8y::loop {

/// One connection, used once. It makes no callback from inside its own functions, and none after
/// close(). It must not be destroyed in one of its callbacks; close() is allowed there.
class Transport {
 public:
  class Handler {
   public:
    virtual void on_connected() = 0;
    /// Called for received bytes. The view is valid only during the call.
    virtual void on_bytes(std::string_view bytes) = 0;
    /// Called when there is room again, after a write() that accepted only a part.
    virtual void on_room() = 0;
    /// Called when the connection could not be made or has ended. No call follows.
    virtual void on_broken(const std::string& why) = 0;

   protected:
    ~Handler() = default;
  };

  virtual ~Transport() = default;
  virtual void connect() = 0;
  /// Sends as much as possible at once and returns the number of bytes accepted. Only while
  /// connected. The number may be slightly more than the bytes that have left this host, never
  /// less.
  virtual std::size_t write(std::string_view bytes) = 0;
  virtual void close() = 0;
};

}  // namespace w8y::loop
