// Pool that all clients of the status API share.
#pragma once

#include <array>
#include <cstddef>

namespace w8y::http {

/// Pool of `limit` units, such as event streams or bytes. Clients that are not trusted hold at most
/// half of the units, so that the unix socket and clients with the token always get some.
class ClientPool {
 public:
  explicit ClientPool(std::size_t limit) : limit_(limit) {}
  ClientPool(const ClientPool&) = delete;
  ClientPool& operator=(const ClientPool&) = delete;

  /// Units of one client, returned when it is destroyed. Must not outlive the pool.
  class Hold {
   public:
    Hold() = default;
    Hold(ClientPool& pool, bool trusted, std::size_t units);
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&& other) noexcept;
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { release(); }

   private:
    void release();

    ClientPool* pool_ = nullptr;
    bool trusted_ = false;
    std::size_t units_ = 0;
  };

  [[nodiscard]] bool fits(bool trusted, std::size_t units = 1) const;
  /// Acquires units, even if they do not fit.
  [[nodiscard]] Hold hold(bool trusted, std::size_t units = 1) { return {*this, trusted, units}; }
  /// Returns the number of units that trusted clients hold, or that all other clients hold.
  [[nodiscard]] std::size_t held(bool trusted) const { return held_[trusted ? 1 : 0]; }

 private:
  const std::size_t limit_;
  std::array<std::size_t, 2> held_{};  ///< units in use; [1]: by trusted clients
};

}  // namespace w8y::http
