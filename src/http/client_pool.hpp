// Pool that all clients of the status API share.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace w8y::http {

/// Pool of `limit` units, such as event streams or bytes. Clients that are not trusted hold at most
/// half of the units, so that the unix socket and clients with the token always get some.
class ClientPool {
 public:
  explicit ClientPool(std::size_t limit) : limit_(limit) {}
  ClientPool(const ClientPool&) = delete;
  ClientPool& operator=(const ClientPool&) = delete;

  struct Release {
    std::size_t units = 0;
    void operator()(std::size_t* held) const { *held -= units; }
  };
  /// Units of one client, returned when it is destroyed or reset(). Must not outlive the pool.
  using Hold = std::unique_ptr<std::size_t, Release>;

  [[nodiscard]] bool fits(bool trusted, std::size_t units = 1) const;
  /// Acquires units, even if they do not fit.
  [[nodiscard]] Hold hold(bool trusted, std::size_t units = 1);
  /// Returns the number of units that trusted clients hold, or that all other clients hold.
  [[nodiscard]] std::size_t held(bool trusted) const { return held_[trusted ? 1 : 0]; }

 private:
  const std::size_t limit_;
  std::array<std::size_t, 2> held_{};  ///< units in use; [1]: by trusted clients
};

}  // namespace w8y::http
