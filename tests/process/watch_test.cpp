// Descriptors on the loop.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <system_error>

#include "core/fd.hpp"
#include "loop/async_wakeup.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace watch_test {
namespace {

/// Pipe with one byte to read.
struct FullPipe {
  FullPipe() {
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    REQUIRE(::write(write.get(), "x", 1) == 1);
  }
  Fd read;
  Fd write;
};

}  // namespace

TEST_CASE("a loop iteration with a due timer does not wait") {
  loop::Loop loop;
  bool late = false;
  bool over = false;
  Timer far(loop.timers());
  far.set(loop.now() + std::chrono::seconds(2), [&] { late = true; });
  Timer first(loop.timers());
  Timer next(loop.timers());
  first.set(loop.now(), [&] { next.set(loop.now(), [&] { over = true; }); });
  while (!over) loop.iterate(true);
  CHECK_FALSE(late);
}

TEST_CASE("a loop iteration with a libuv callback does not wait") {
  loop::Loop loop;
  bool woken = false;
  loop::AsyncWakeup wake(loop, [&] { woken = true; });
  wake.wake();  // before the first iteration of libuv
  bool late = false;
  Timer far(loop.timers());
  far.set(loop.now() + std::chrono::seconds(20), [&] { late = true; });
  while (!woken) loop.iterate(true);
  CHECK_FALSE(late);
}

TEST_CASE("a watch may destroy itself and others that are ready in the same iteration") {
  loop::Loop loop;
  std::array<FullPipe, 3> pipes;
  std::array<std::unique_ptr<loop::Watch>, 3> watches;
  int called = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    watches[i] = std::make_unique<loop::Watch>(loop, pipes[i].read.get(), [&](bool, bool) {
      ++called;
      for (auto& watch : watches) watch.reset();
    });
    watches[i]->want(true, false);
  }
  for (int i = 0; i < 3; ++i) loop.iterate(false);
  CHECK(called == 1);
}

TEST_CASE("a watch is notified of requested events, including a hang-up") {
  loop::Loop loop;
  FullPipe pipe;
  int readable = 0;
  int writable = 0;
  loop::Watch reads(loop, pipe.read.get(), [&](bool read, bool write) {
    readable += read ? 1 : 0;
    CHECK_FALSE(write);
    reads.want(false, false);
  });
  loop::Watch writes(loop, pipe.write.get(), [&](bool read, bool write) {
    CHECK_FALSE(read);
    writable += write ? 1 : 0;
    writes.want(false, false);
  });
  reads.want(true, false);
  writes.want(false, true);
  CHECK(turn_until(loop, [&] { return readable == 1 && writable == 1; }));

  char byte = 0;
  CHECK(read(pipe.read.get(), &byte, 1) == 1);
  reads.want(true, false);
  for (int i = 0; i < 3; ++i) loop.iterate(false);
  CHECK(readable == 1);
  writes.want(false, false);
  pipe.write.reset();
  CHECK(turn_until(loop, [&] { return readable == 2; }));
}

TEST_CASE("watching a regular file is an error") {
  loop::Loop loop;
  const TempDir directory;
  const Fd file(open(directory.file("x", "x").c_str(), O_RDONLY | O_CLOEXEC));
  loop::Watch on_file(loop, file.get(), [](bool, bool) {});
  CHECK_THROWS_AS(on_file.want(true, false), std::system_error);
}

}  // namespace watch_test
