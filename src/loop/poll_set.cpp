#include "loop/poll_set.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "loop/watch.hpp"

namespace w8y::loop {

PollSet::PollSet() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!fd_) throw std::system_error(errno, std::generic_category(), "cannot watch descriptors");
}

void PollSet::change(Watch& watch, int fd, unsigned before, unsigned after) {
  epoll_event event{};
  event.events = after;
  event.data.ptr = &watch;
  const int operation = after == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(fd_.get(), operation, fd, &event) != 0 && after != 0)
    throw std::system_error(errno, std::generic_category(), "cannot watch a descriptor");
  if (after == 0) forget(watch);
}

void PollSet::forget(const Watch& watch) {
  for (std::size_t i = next_; i < count_; ++i)
    if (ready_[i].data.ptr == &watch) ready_[i].data.ptr = nullptr;
}

void PollSet::poll(bool wait) noexcept {
  const int count =
      epoll_wait(fd_.get(), ready_.data(), static_cast<int>(ready_.size()), wait ? -1 : 0);
  count_ = static_cast<std::size_t>(std::max(count, 0));
  for (next_ = 0; next_ < count_;) {
    const epoll_event event = ready_[next_++];
    if (event.data.ptr != nullptr) static_cast<Watch*>(event.data.ptr)->on_ready(event.events);
  }
  count_ = 0;
}

}  // namespace w8y::loop
