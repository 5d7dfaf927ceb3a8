#include "loop/background.hpp"

#include <uv.h>

#include <memory>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::loop {

namespace {

struct Work {
  uv_work_t request{};
  std::function<void()> work;
  std::function<void()> then;

  static void run(uv_work_t* request) { static_cast<Work*>(request->data)->work(); }
  static void done(uv_work_t* request, int) noexcept {
    std::unique_ptr<Work> made(static_cast<Work*>(request->data));
    const auto then = std::move(made->then);
    made.reset();  // frees the data of the work
    if (then) then();
  }
};

}  // namespace

bool in_background(Loop& loop, std::function<void()> work) {
  return in_background(loop, std::move(work), {});
}

bool in_background(Loop& loop, std::function<void()> work, std::function<void()> then) {
  auto made = std::make_unique<Work>();
  made->work = std::move(work);
  made->then = std::move(then);
  made->request.data = made.get();
  if (uv_queue_work(loop.uv(), &made->request, Work::run, Work::done) != 0) return false;
  static_cast<void>(made.release());  // done() frees it
  return true;
}

}  // namespace w8y::loop
