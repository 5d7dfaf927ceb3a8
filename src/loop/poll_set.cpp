#include "loop/poll_set.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "loop/watch.hpp"

namespace w8y::loop {

PollSet::PollSet(uv_loop_t* loop) : fd_(epoll_create1(EPOLL_CLOEXEC)), handle_(new uv_poll_t) {
  int result = fd_ < 0 ? -errno : uv_poll_init(loop, handle_, fd_);
  if (result < 0) {
    delete handle_;
    if (fd_ >= 0) close(fd_);
    throw std::system_error(-result, std::generic_category(), "can't watch descriptors");
  }
  handle_->data = this;
  uv_poll_start(handle_, UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<PollSet*>(handle->data)->on_ready();
  });
  uv_unref(reinterpret_cast<uv_handle_t*>(handle_));
}

PollSet::~PollSet() {
  uv_close(reinterpret_cast<uv_handle_t*>(handle_),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
  close(fd_);
}

void PollSet::change(Watch& watch, int fd, unsigned before, unsigned after) {
  epoll_event event{};
  event.events = after;
  event.data.ptr = &watch;
  const int operation = after == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(fd_, operation, fd, &event) != 0 && after != 0)
    throw std::system_error(errno, std::generic_category(), "can't watch a descriptor");
  if (after == 0) forget(watch);
}

void PollSet::forget(const Watch& watch) {
  for (std::size_t i = next_; i < count_; ++i)
    if (ready_[i].data.ptr == &watch) ready_[i].data.ptr = nullptr;
}

void PollSet::hold(bool hold) {
  auto* handle = reinterpret_cast<uv_handle_t*>(handle_);
  if (hold) {
    if (held_++ == 0) uv_ref(handle);
  } else if (--held_ == 0) {
    uv_unref(handle);
  }
}

void PollSet::on_ready() noexcept {
  const int count = epoll_wait(fd_, ready_.data(), static_cast<int>(ready_.size()), 0);
  count_ = static_cast<std::size_t>(std::max(count, 0));
  for (next_ = 0; next_ < count_;) {
    const epoll_event event = ready_[next_++];
    if (event.data.ptr != nullptr) static_cast<Watch*>(event.data.ptr)->on_ready(event.events);
  }
  count_ = 0;
}

}  // namespace w8y::loop
