#include "loop/embedded_uv_loop.hpp"

#include <system_error>

#include "loop/loop.hpp"

namespace w8y::loop {

EmbeddedUvLoop::EmbeddedUvLoop(Loop& loop) {
  if (const int result = uv_loop_init(&uv_); result < 0)
    throw std::system_error(-result, std::generic_category(), "cannot create an event loop");
  uv_check_init(&uv_, &keeper_);
  uv_check_start(&keeper_, [](uv_check_t*) {});
  watch_ = std::make_unique<Watch>(loop, uv_backend_fd(&uv_), [this](bool, bool) { turn(); });
  watch_->keep_loop_alive(false);
  watch_->want(true, false);
}

EmbeddedUvLoop::~EmbeddedUvLoop() {
  watch_.reset();
  uv_close(reinterpret_cast<uv_handle_t*>(&keeper_), nullptr);
  while (uv_run(&uv_, UV_RUN_NOWAIT) != 0) {
  }  // close callbacks free the handles
  uv_loop_close(&uv_);
}

void EmbeddedUvLoop::turn() {
  started_ = false;
  uv_run(&uv_, UV_RUN_NOWAIT);
}

bool EmbeddedUvLoop::alive() {
  auto* keeper = reinterpret_cast<uv_handle_t*>(&keeper_);
  uv_unref(keeper);
  const bool alive = uv_loop_alive(&uv_) != 0;
  uv_ref(keeper);
  return alive;
}

}  // namespace w8y::loop
