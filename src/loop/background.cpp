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

  static void run(uv_work_t* request) { static_cast<Work*>(request->data)->work(); }
  static void done(uv_work_t* request, int) { delete static_cast<Work*>(request->data); }
};

}  // namespace

bool in_background(Loop& loop, std::function<void()> work) {
  auto made = std::make_unique<Work>();
  made->work = std::move(work);
  made->request.data = made.get();
  if (uv_queue_work(loop.uv(), &made->request, Work::run, Work::done) != 0) return false;
  static_cast<void>(made.release());  // done() frees it
  return true;
}

}  // namespace w8y::loop
