// Share of the loop's time for the output of children.
#include "process/pipes.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace pipes_test {
namespace {

/// Handler that needs a fixed time per piece.
struct Slow : process::ChildHandler {
  Slow(const loop::Loop& on, Duration each) : loop(on), piece(each) {}
  void on_output(process::Stream, std::string_view bytes) override {
    const Instant began = loop.now();
    std::this_thread::sleep_for(piece);
    const Duration took = loop.now() - began;
    spent += took;
    longest = std::max(longest, took);
    text += bytes;
    ++pieces;
  }
  void on_ended(ProcessEnd process_end) override { end = std::move(process_end); }

  const loop::Loop& loop;
  const Duration piece;
  Duration spent{0};
  Duration longest{0};
  std::size_t pieces = 0;
  std::string text;
  std::optional<ProcessEnd> end;
};

constexpr int one = process::OutputPipe::share_of_one;
constexpr int all = process::OutputPipe::share_of_all;
constexpr Duration burst = process::OutputPipe::burst;

}  // namespace

TEST_CASE("a flood that is expensive to handle has a limited share of the loop's time") {
  loop::Loop loop;
  Slow handler(loop, 1ms);
  process::Child child(loop, sh("exec yes"), handler);
  const Instant began = loop.now();
  REQUIRE(turn_until(loop, [&] { return handler.spent > 2 * burst; }));
  CHECK(loop.now() - began >= (handler.spent - burst - handler.longest) * one);
}

TEST_CASE("output that is excused does not count as a flood") {
  loop::Loop loop;
  struct Asked : Slow {
    using Slow::Slow;
    void on_output(process::Stream stream, std::string_view bytes) override {
      Slow::on_output(stream, bytes);
      child->excuse(2 * piece);
    }
    process::Child* child = nullptr;
  } handler(loop, 2ms);
  process::Child child(loop, sh("exec yes"), handler);
  handler.child = &child;
  const Instant began = loop.now();
  REQUIRE(turn_until(loop, [&] { return handler.spent > 4 * burst; }));
  CHECK(loop.now() - began < (handler.spent - burst) * one / 2);
}

TEST_CASE("all floods together have a limited share of the loop's time") {
  loop::Loop loop;
  Slow handler(loop, 1ms);
  std::vector<std::unique_ptr<process::Child>> children;
  constexpr int count = 8;
  for (int i = 0; i < count; ++i)
    children.push_back(std::make_unique<process::Child>(loop, sh("exec yes"), handler));
  REQUIRE(turn_until(loop, [&] { return handler.spent > 3 * count * burst; }));
  // All children have used up their burst by now.
  const Instant began = loop.now();
  const Duration before = handler.spent;
  REQUIRE(turn_until(loop, [&] { return loop.now() - began > 500ms; }));
  // The pace of a child depends on the number of paced children. It was low for the first children,
  // so the limit is approximate.
  CHECK(handler.spent - before < (loop.now() - began) * 3 / 2 / all + count * handler.longest);
}

TEST_CASE("a short burst of output is read at once, however long it takes") {
  loop::Loop loop;
  Slow handler(loop, 1ms);
  process::Child child(loop, sh("i=0; while [ $i -lt 20 ]; do echo $i; i=$((i+1)); done"), handler);
  const Instant began = loop.now();
  REQUIRE(turn_until(loop, [&] { return handler.end.has_value(); }));
  CHECK(handler.text.ends_with("\n19\n"));
  CHECK(loop.now() - began < 5s);
}

TEST_CASE("remaining output of a paced child and its end are handled at once when it exits") {
  loop::Loop loop;
  // A piece of this duration would pause the child for more than 8 s.
  Slow handler(loop, 600ms);
  process::Child child(loop, sh("echo first; sleep 0.2; echo last; exit 3"), handler);
  const Instant began = loop.now();
  REQUIRE(turn_until(loop, [&] { return handler.end.has_value(); }));
  CHECK(loop.now() - began < 600ms * one);
  CHECK(handler.text == "first\nlast\n");
  CHECK(end_text(*handler.end) == "exit 3");
}

TEST_CASE("a paced child that is killed ends at once") {
  loop::Loop loop;
  Slow handler(loop, 600ms);
  process::Child child(loop, sh("exec yes"), handler);
  REQUIRE(turn_until(loop, [&] { return handler.pieces > 0; }));
  const Instant began = loop.now();
  child.kill();
  REQUIRE(turn_until(loop, [&] { return handler.end.has_value(); }));
  CHECK(end_text(*handler.end) == "signal 9 (SIGKILL)");
  CHECK(loop.now() - began < 600ms * one);
}

TEST_CASE("output of a paced child is complete") {
  loop::Loop loop;
  Slow handler(loop, 2ms);
  constexpr std::size_t size = std::size_t{100} << 10;
  process::Child child(loop, sh("head -c " + std::to_string(size) + " /dev/zero"), handler);
  REQUIRE(turn_until(loop, [&] { return handler.end.has_value(); }));
  CHECK(handler.text.size() == size);
}

}  // namespace pipes_test
