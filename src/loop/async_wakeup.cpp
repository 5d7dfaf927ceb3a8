#include "loop/async_wakeup.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::loop {

AsyncWakeup::AsyncWakeup(Loop& loop, std::function<void()> woken) : woken_(std::move(woken)) {
  auto handle = std::make_unique<uv_async_t>();
  handle->data = this;
  const int result = uv_async_init(loop.uv(), handle.get(), [](uv_async_t* of) {
    static_cast<AsyncWakeup*>(of->data)->woken_();
  });
  if (result < 0)
    throw std::system_error(-result, std::generic_category(),
                            "cannot initialize a wake-up of the loop");
  handle_ = handle.release();
}

AsyncWakeup::~AsyncWakeup() {
  uv_close(reinterpret_cast<uv_handle_t*>(handle_),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_async_t*>(handle); });
}

void AsyncWakeup::keep_loop_alive(bool alive) {
  auto* handle = reinterpret_cast<uv_handle_t*>(handle_);
  alive ? uv_ref(handle) : uv_unref(handle);
}

}  // namespace w8y::loop
