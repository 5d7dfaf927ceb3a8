#include "loop/watch.hpp"

#include <system_error>
#include <utility>

#include "loop/loop.hpp"

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
    : handle_(new uv_poll_t), callback_(std::move(callback)) {
  const int result = uv_poll_init(loop.uv(), handle_, fd);
  if (result < 0) {
    delete handle_;
    fail(result, "can't watch a descriptor");
  }
  handle_->data = this;
}

Watch::~Watch() {
  uv_poll_stop(handle_);
  close_and_free(handle_);
}

void Watch::on_poll(uv_poll_t* handle, int status, int events) {
  auto* self = static_cast<Watch*>(handle->data);
  if (self == nullptr) return;
  if (status < 0) {
    // libuv stops watching at an error, even if there is something left to read before it.
    events = self->wanted_;
    uv_poll_start(handle, events, on_poll);
  }
  self->callback_((events & (UV_READABLE | UV_DISCONNECT)) != 0,
                  (events & (UV_WRITABLE | UV_DISCONNECT)) != 0);
}

void Watch::want(bool read, bool write) {
  const int wanted = (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0);
  if (wanted == wanted_) return;
  wanted_ = wanted;
  if (wanted == 0) {
    uv_poll_stop(handle_);
  } else if (const int result = uv_poll_start(handle_, wanted, on_poll); result < 0) {
    fail(result, "can't watch a descriptor");
  }
}

void Watch::keep_loop_alive(bool keep) {
  auto* handle = reinterpret_cast<uv_handle_t*>(handle_);
  if (keep) {
    uv_ref(handle);
  } else {
    uv_unref(handle);
  }
}

SignalWatch::SignalWatch(Loop& loop, int signal, Callback callback)
    : handle_(new uv_signal_t), callback_(std::move(callback)) {
  int result = uv_signal_init(loop.uv(), handle_);
  if (result < 0) {
    delete handle_;
    fail(result, "can't watch a signal");
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
    fail(result, "can't watch a signal");
  }
  uv_unref(reinterpret_cast<uv_handle_t*>(handle_));
}

SignalWatch::~SignalWatch() {
  uv_signal_stop(handle_);
  close_and_free(handle_);
}

}  // namespace w8y::loop
