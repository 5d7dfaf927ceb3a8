#include "loop/watch.hpp"

#include <system_error>
#include <utility>

#include "loop/loop.hpp"
#include "loop/poll_set.hpp"

namespace w8y::loop {

namespace {

template <typename Handle>
void close_and_free(Handle* handle) {
  handle->data = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}

[[noreturn]] void fail(int code, const char* what) {
  throw std::system_error(-code, std::generic_category(), what);
}

}  // namespace

Watch::Watch(Loop& loop, int fd, Callback callback)
    : polls_(loop.polls()), fd_(fd), callback_(std::move(callback)) {}

Watch::~Watch() {
  want(false, false);
}

void Watch::want(bool read, bool write) {
  const unsigned wanted = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U);
  if (wanted == wanted_) return;
  polls_.change(*this, fd_, wanted_, wanted);
  wanted_ = wanted;
  hold_loop();
}

void Watch::keep_loop_alive(bool keep) {
  keeps_loop_ = keep;
  hold_loop();
}

void Watch::hold_loop() {
  const bool hold = keeps_loop_ && wanted_ != 0;
  if (hold == holds_loop_) return;
  holds_loop_ = hold;
  polls_.hold(hold);
}

void Watch::on_ready(unsigned events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) events |= wanted_;
  callback_((events & wanted_ & EPOLLIN) != 0, (events & wanted_ & EPOLLOUT) != 0);
}

SignalWatch::SignalWatch(Loop& loop, int signal, Callback callback)
    : handle_(new uv_signal_t), callback_(std::move(callback)) {
  int result = uv_signal_init(loop.uv(), handle_);
  if (result < 0) {
    delete handle_;
    fail(result, "cannot watch a signal");
  }
  handle_->data = this;
  result = uv_signal_start(
      handle_,
      [](uv_signal_t* handle, int number) {
        if (auto* self = static_cast<SignalWatch*>(handle->data)) self->callback_(number);
      },
      signal);
  if (result < 0) {
    close_and_free(handle_);
    fail(result, "cannot watch a signal");
  }
  uv_unref(reinterpret_cast<uv_handle_t*>(handle_));
}

SignalWatch::~SignalWatch() {
  uv_signal_stop(handle_);
  close_and_free(handle_);
}

}  // namespace w8y::loop
