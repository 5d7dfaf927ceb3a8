// All descriptors that a loop watches, in an epoll of our own inside libuv's. A uv_poll_t costs
// seven system calls for a descriptor that is watched once and closed (libuv tries it out, and
// unregisters it to be sure), which a supervisor that watches three descriptors per child would
// feel.
#pragma once

#include <sys/epoll.h>
#include <uv.h>

#include <array>
#include <cstddef>

namespace w8y::loop {

class Watch;

class PollSet {
 public:
  /// Throws std::system_error.
  explicit PollSet(uv_loop_t* loop);
  ~PollSet();
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

 private:
  friend class Watch;

  void change(Watch& watch, int fd, unsigned before, unsigned after);
  /// Nothing more is told to a watch that stops in the middle of a turn.
  void forget(const Watch& watch);
  /// Watches that keep the loop going come and go.
  void hold(bool hold);
  void on_ready() noexcept;

  int fd_;
  uv_poll_t* handle_;  // freed by its close callback
  std::size_t held_ = 0;
  std::array<epoll_event, 256> ready_{};
  std::size_t next_ = 0;   ///< of ready_, the first that is not told yet
  std::size_t count_ = 0;  ///< of ready_
};

}  // namespace w8y::loop
