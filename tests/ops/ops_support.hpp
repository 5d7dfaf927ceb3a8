// Helper of the ops tests: a thread as a client.
#pragma once

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "loop/loop.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

// Declares the namespaces of the using-directives below, because a test may include headers of only
// some of them.
namespace w8y::http {}
namespace w8y::api {}
namespace w8y::page {}

namespace w8y::ops::test {

using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

using namespace w8y::test;

/// Runs a blocking function in a thread, and the loop in the calling thread.
inline bool beside(loop::Loop& loop, const std::function<void()>& work, Duration limit = timeout) {
  const int done = eventfd(0, EFD_CLOEXEC);
  bool finished = false;
  bool in_time = false;
  std::thread thread([&] {
    work();
    eventfd_write(done, 1);
  });
  {
    loop::Watch watch(loop, done, [&](bool, bool) {
      finished = true;
      watch.want(false, false);
    });
    watch.want(true, false);
    in_time = turn_until(
        loop, [&] { return finished; }, limit);
  }
  CHECK(in_time);
  thread.join();
  close(done);
  return in_time;
}

}  // namespace w8y::ops::test
