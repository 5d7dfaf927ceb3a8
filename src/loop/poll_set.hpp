// All descriptors that a loop watches, in one epoll. A uv_poll_t would cost seven system calls for
// a descriptor that is watched once and closed (libuv tries it out, and unregisters it to be sure),
// which a supervisor that watches three descriptors per child would feel.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>

namespace w8y::loop {

class Watch;

class PollSet {
 public:
  /// Throws std::system_error.
  PollSet();
  ~PollSet();
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  /// Waits until something is ready, if `wait`, and calls back who watches it. A signal ends the
  /// wait, too.
  void poll(bool wait) noexcept;
  /// Whether somebody watches who keeps the loop going.
  [[nodiscard]] bool held() const { return held_ > 0; }

 private:
  friend class Watch;

  void change(Watch& watch, int fd, unsigned before, unsigned after);
  /// Nothing more is told to a watch that stops in the middle of a turn.
  void forget(const Watch& watch);
  /// Watches that keep the loop going come and go.
  void hold(bool hold) { hold ? ++held_ : --held_; }

  int fd_;
  std::size_t held_ = 0;
  std::array<epoll_event, 256> ready_{};
  std::size_t next_ = 0;   ///< of ready_, the first that is not told yet
  std::size_t count_ = 0;  ///< of ready_
};

}  // namespace w8y::loop
