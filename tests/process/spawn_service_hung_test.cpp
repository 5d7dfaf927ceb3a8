// Starts that another user can delay: the loop and other starts continue.
#include <doctest/doctest.h>

#include "spawn_service_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a lease on a program delays only its own start, which times out") {
  if (can_not_be_tried()) return;
  Served served(1s);
  const Leased leased;
  if (!leased.holder->acts()) return;
  Recorder recorder;
  auto options = served.prepared(command({leased.program}));
  process::Child child(served.loop, options, recorder);
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  served.start_to_measure();
  const Instant began = served.loop.now();
  REQUIRE(turn_until(served.loop, [&] { return recorder.end.has_value(); }));
  CHECK(served.loop.now() - began < 30s);
  CHECK(served.max_gap < 5s);
  CHECK(end_text(*recorder.end) == leased.program +
                                       " did not start within 1s: it was stopped, or a file or "
                                       "directory that it needs does not respond");
  CHECK(host_is_short(*recorder.end));
}

TEST_CASE("a user who stops children during their start does not stop the loop") {
  if (can_not_be_tried()) return;
  Served served(1s);
  const Villain stopper([](auto&& tell) {
    if (!tell()) return;
    for (;;) ::kill(-1, SIGSTOP);
  });
  REQUIRE(stopper.acts());
  CHECK(served.run(served.prepared(sh("exit 5"), false)).code() == 5);
  served.start_to_measure();
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<process::Child>> children;
  for (int i = 0; i < 50; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    children.push_back(std::make_unique<process::Child>(
        served.loop, served.prepared(command({"/bin/true"})), *recorders.back()));
  }
  const auto is_settled = [&] {
    return std::all_of(children.begin(), children.end(), [&](const auto& child) {
      const auto at = static_cast<std::size_t>(&child - children.data());
      return child->pid() != 0 || recorders[at]->end.has_value();
    });
  };
  CHECK(turn_until(served.loop, is_settled));
  CHECK(served.max_gap < 5s);
  for (const auto& child : children) child->kill();
  CHECK(turn_until(served.loop, [&] {
    return std::all_of(recorders.begin(), recorders.end(),
                       [](const auto& recorder) { return recorder->end.has_value(); });
  }));
}

TEST_CASE("a directory that does not respond delays only the starts that use it") {
  if (can_not_be_tried()) return;
  const TempDir directory;
  const Hung hung(directory.path() + "/hung");
  if (!hung.mounted()) {
    MESSAGE("no FUSE here: skipped");
    return;
  }
  Served served(3s);
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::unique_ptr<process::Child>> children;
  const auto start = [&](process::ChildOptions options) {
    recorders.push_back(std::make_unique<Recorder>());
    children.push_back(
        std::make_unique<process::Child>(served.loop, std::move(options), *recorders.back()));
  };
  served.start_to_measure();
  const Instant began = served.loop.now();
  for (const bool as_stranger : {true, false}) {
    auto in_it = command({"/bin/true"});
    in_it.spawn.cwd = directory.path() + "/hung/in";
    start(served.prepared(in_it, as_stranger));
    start(served.prepared(command({directory.path() + "/hung/program"}), as_stranger));
    auto by_file = command({"/bin/true"});
    by_file.spawn.env_file = directory.path() + "/hung/env";
    start(served.prepared(by_file, as_stranger));
  }
  // Other starts meanwhile, with and without the helper.
  for (int i = 0; i < 5; ++i)
    for (const bool as_stranger : {true, false})
      CHECK(served.run(served.prepared(command({"/bin/true"}), as_stranger)).code() == 0);
  if (served.loop.now() - began < 2s)
    for (const auto& recorder : recorders) CHECK_FALSE(recorder->end);
  CHECK(turn_until(served.loop, [&] {
    return std::all_of(recorders.begin(), recorders.end(),
                       [](const auto& recorder) { return recorder->end.has_value(); });
  }));
  for (const auto& recorder : recorders) CHECK(host_is_short(*recorder->end));
  CHECK(served.max_gap < 5s);
}

TEST_CASE("a mount on a temporary directory delays neither the loop nor other directories") {
  if (can_not_be_tried()) return;
  const TempDir directory;
  setenv("TMPDIR", directory.path().c_str(), 1);
  Served served(3s);
  process::TempDirectories directories(served.loop);
  std::vector<std::string> said;
  directories.on_stays = [&](const std::string&, const std::string& why) { said.push_back(why); };
  std::string name;
  std::unique_ptr<Hung> hung;
  served.start_to_measure();
  {
    process::TempDirectory temp(served.loop, &directories);
    REQUIRE_FALSE(temp.make({}));
    name = temp.path();
    hung = std::make_unique<Hung>(name);
    if (!hung->mounted()) {
      MESSAGE("no FUSE here: skipped");
      unsetenv("TMPDIR");
      return;
    }
  }
  std::string other;
  {
    process::TempDirectory temp(served.loop, &directories);
    REQUIRE_FALSE(temp.make({}));
    other = temp.path();
    std::filesystem::create_directories(other + "/a/b");
  }
  unsetenv("TMPDIR");
  CHECK(turn_until(served.loop, [&] { return !said.empty() && !std::filesystem::exists(other); }));
  CHECK(said == std::vector<std::string>{"another file system is mounted on it"});
  CHECK(served.max_gap < 5s);
  // After the unmount, the directory is removed.
  hung.reset();
  CHECK(turn_until(served.loop, [&] { return said.size() == 2; }));
  CHECK(access(name.c_str(), F_OK) != 0);
}

TEST_CASE("the number of children that cannot be killed during their start is limited") {
  if (can_not_be_tried()) return;
  const TempDir directory;
  auto hung = std::make_unique<Hung>(directory.path() + "/hung");
  if (!hung->mounted()) {
    MESSAGE("no FUSE here: skipped");
    return;
  }
  Served served(500ms);
  auto in_it = command({"/bin/true"});
  in_it.spawn.cwd = directory.path() + "/hung/in";
  std::vector<std::string> told;
  for (int i = 0; i < 6; ++i) {
    Recorder recorder;
    process::Child child(served.loop, served.prepared(in_it), recorder);
    REQUIRE(turn_until(served.loop, [&] {
      hung->read_request();
      return recorder.end.has_value();
    }));
    CHECK(host_is_short(*recorder.end));
    told.push_back(end_text(*recorder.end));
  }
  CAPTURE(told.back());
  CHECK(process::forgotten().size() == 4);
  CHECK(told[3].find("within 500ms") != std::string::npos);
  CHECK(told[4].find("have not ended") != std::string::npos);
  CHECK(told[5] == told[4]);
  // Other starts still work. Starts of this kind work again when the hung children have ended.
  CHECK(served.run(served.prepared(command({"/bin/true"}))).code() == 0);
  hung.reset();
  CHECK(turn_until(served.loop, [&] {
    process::forgotten().sweep();
    return process::forgotten().size() == 0;
  }));
}
