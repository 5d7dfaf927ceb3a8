// Child of `w8y`: on the standard streams and in the session of w8y.
#include "executor/attached.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <csignal>
#include <cstdlib>

#include "core/fd.hpp"
#include "executor_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace attached_test {
namespace {

struct Attached {
  void start(const Item& item, const std::vector<std::string>& words, const char* env_var = "") {
    ListConfig rule;
    rule.command = words;
    rule.child.edit().env_var = env_var;
    recorder.inside_call = true;
    executor.start({"RUN", item, {}, 1, 1}, std::make_shared<const ListConfig>(rule));
    recorder.inside_call = false;
  }
  std::string end() {
    REQUIRE(turn_until(loop, [&] { return recorder.runs["RUN"].end.has_value(); }));
    const std::string reason = recorder.runs["RUN"].reason();
    recorder.runs.clear();
    return reason;
  }

  loop::Loop loop;
  RunRecorder recorder;
  executor::AttachedExecutor executor{loop, recorder};
};

/// Redirects standard output of the test to a file while it exists.
class Output {
 public:
  Output()
      : file_(open(directory_.file("out", "").c_str(), O_WRONLY | O_CLOEXEC)), before_(dup(1)) {
    dup2(file_.get(), 1);
  }
  ~Output() { dup2(before_.get(), 1); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  [[nodiscard]] std::string text() const { return directory_.read("out"); }

 private:
  TempDir directory_;
  Fd file_;
  Fd before_;
};

}  // namespace

TEST_CASE(
    "a child of w8y has the item in its arguments and its variable, and the environment of w8y") {
  setenv("W8Y_TEST_OURS", "ours", 1);
  setenv("ITEM", "before", 1);
  Attached attached;
  std::string text;
  {
    const Output output;
    attached.start(
        "a b",
        {"sh", "-c", R"(echo "$0|$1|$2|$ITEM|$W8Y_TEST_OURS"; exit 9)", "x{}y{}", "{}", "{ }"},
        "ITEM");
    CHECK(attached.end() == "exit 9");
    text = output.text();
  }
  CHECK(text == "xa bya b|a b|{ }|a b|ours\n");
  unsetenv("W8Y_TEST_OURS");
  unsetenv("ITEM");
}

TEST_CASE(
    "a child of w8y stays in its session and group, and inherits its descriptors and signals") {
  Attached attached;
  std::string text;
  const Fd given(fcntl(0, F_DUPFD, 300));
  auto* before = std::signal(SIGHUP, SIG_IGN);  // as nohup does
  // Except SIGPIPE: main() of the test ignores it, but a child does not inherit that.
  const std::uint64_t ignored = ignored_signals() & ~(std::uint64_t{1} << (SIGPIPE - 1));
  {
    const Output output;
    attached.start("x", {"sh", "-c", "ls /proc/self/fd; exec cat /proc/self/status"});
    CHECK(attached.end() == "exit 0");
    text = output.text();
  }
  std::signal(SIGHUP, before);
  CHECK(field(text, "NSsid") == std::to_string(getsid(0)));
  CHECK(field(text, "NSpgid") == std::to_string(getpgrp()));
  CHECK(std::stoull(field(text, "SigIgn"), nullptr, 16) == ignored);
  CHECK((ignored & 1) == 1);
  CHECK(text.find("300\n") != std::string::npos);
}

TEST_CASE("signals are passed on to the child, and stop and kill reach only the child") {
  Attached attached;
  const auto run = [&](auto&& act) {
    attached.start("x", {"sleep", "1000"});
    REQUIRE(turn_until(attached.loop, [&] { return attached.recorder.runs["RUN"].pid != 0; }));
    act();
    return attached.end();
  };
  CHECK(run([&] { attached.executor.signal(SIGINT); }) == "signal 2 (SIGINT)");
  CHECK(run([&] { attached.executor.stop("RUN"); }) == "signal 15 (SIGTERM)");
  CHECK(run([&] { attached.executor.kill("RUN"); }) == "signal 9 (SIGKILL)");
  attached.executor.signal(SIGINT);  // no child is left
  attached.executor.stop("RUN");
}

TEST_CASE("the program of w8y is searched in PATH, and a missing program is an error") {
  Attached attached;
  attached.start("x", {"true"});
  CHECK(attached.end() == "exit 0");
  attached.start("x", {"w8y-no-such-program"});
  CHECK(attached.end() == "cannot run w8y-no-such-program: not found");
  attached.start("x", {"/etc/passwd"});
  CHECK(attached.end() == "cannot run /etc/passwd: not executable");
  attached.start(Item("a\0b", 3), {"true", "{}"});
  CHECK(attached.end() == "the item contains a NUL byte and cannot be an argument");
  attached.start(Item("a\0b", 3), {"true"}, "ITEM");
  CHECK(attached.end() == "exit 0");
}

}  // namespace attached_test
