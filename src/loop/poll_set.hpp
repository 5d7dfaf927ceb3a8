// All descriptors that a loop watches, in one epoll. A uv_poll_t would cost seven system calls for
// a descriptor that is watched once and closed: libuv tries the descriptor, and unregisters it
// again. A supervisor that watches three descriptors per child cannot afford that.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>

#include "core/fd.hpp"

namespace w8y::loop {

class Watch;

class PollSet {
 public:
  /// Throws std::system_error.
  PollSet();
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  /// Calls back the watches of ready descriptors. With `wait`, it waits until one is ready or a
  /// signal arrives.
  void poll(bool wait) noexcept;
  /// Whether a watch keeps the loop alive.
  [[nodiscard]] bool held() const { return held_ > 0; }

 private:
  friend class Watch;

  void change(Watch& watch, int fd, unsigned before, unsigned after);
  /// Suppresses further callbacks of a watch that stops during poll().
  void forget(const Watch& watch);
  /// Counts the watches that keep the loop alive.
  void hold(bool hold) { hold ? ++held_ : --held_; }

  Fd fd_;
  std::size_t held_ = 0;
  std::array<epoll_event, 256> ready_{};
  std::size_t next_ = 0;   ///< index in ready_ of the next callback
  std::size_t count_ = 0;  ///< of ready_
};

}  // namespace w8y::loop
