// Prerequisites of a list other than its program: their checks, and paths that do not respond.
#include "executor/prerequisites.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

#include "executor/prerequisite_checker.hpp"
#include "process/spawn_service.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace needs_test {
namespace {

using executor::Prerequisites;
using executor::PrerequisiteStep;

/// Returns the missing prerequisite. Empty if all exist.
std::string lacks(const Prerequisites& needs) {
  std::atomic<PrerequisiteStep> step;
  const auto looked = executor::check_and_try(needs, step);
  return looked.problem ? looked.problem->text : "";
}

/// Checks that end when the test requests it.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> shut;  ///< directories that do not respond
  std::multiset<std::string> looked;

  static executor::PrerequisiteChecker::Check look(const std::shared_ptr<Gate>& gate) {
    // The function shares the gate, because a thread may wait at the gate for longer than the test.
    return [gate](const Prerequisites& needs, std::atomic<PrerequisiteStep>& step) {
      step = PrerequisiteStep::trial;
      std::unique_lock lock(gate->mutex);
      gate->looked.insert(needs.cwd);
      gate->changed.wait(lock, [&] { return !gate->shut.contains(needs.cwd); });
      executor::PrerequisiteResult seen;
      if (needs.cwd == "/gone")
        seen.problem =
            process::SpawnError{ENOENT, "gone", false, process::SpawnError::About::settings};
      return seen;
    };
  }
  void open() {
    const std::lock_guard lock(mutex);
    shut.clear();
    changed.notify_all();
  }
};

struct Looking {
  explicit Looking(std::set<std::string> shut) { gate->shut = std::move(shut); }
  ~Looking() { gate->open(); }
  [[nodiscard]] std::size_t told(const std::string& line) const {
    return static_cast<std::size_t>(std::count(answers.begin(), answers.end(), line));
  }
  [[nodiscard]] std::size_t looked(const std::string& cwd) const {
    const std::lock_guard lock(gate->mutex);
    return gate->looked.count(cwd);
  }

  void ask(const std::string& cwd, Duration timeout = 20s) {
    Prerequisites needs;
    needs.cwd = cwd;
    checks.check(needs, timeout, [this, cwd](const std::optional<Ineligibility>& refusal) {
      answers.push_back(cwd + ": " + (refusal ? refusal->reason : "here"));
    });
  }
  bool wait_for_answers(std::size_t count) {
    return turn_until(loop, [&] { return answers.size() >= count; });
  }

  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  loop::Loop loop;
  executor::PrerequisiteChecker checks{loop, nullptr, Gate::look(gate)};
  std::vector<std::string> answers;
};

}  // namespace

TEST_CASE("each missing prerequisite is named") {
  const TempDir directory;
  Prerequisites needs;
  CHECK(needs.none());
  CHECK(lacks(needs).empty());

  needs.cwd = directory.path();
  CHECK(lacks(needs).empty());
  needs.cwd = directory.path() + "/none";
  CHECK(lacks(needs) == "cannot change to directory " + needs.cwd + ": No such file or directory");
  needs.cwd = directory.file("plain", "");
  CHECK(lacks(needs) == "cannot change to directory " + needs.cwd + ": Not a directory");

  needs = {};
  needs.env_file = directory.path() + "/none";
  CHECK(lacks(needs) == "env_file " + needs.env_file + " not found");
  needs.env_file = directory.file("env", "A=1\n");
  CHECK(lacks(needs).empty());
  needs.env_file = directory.file("wrong", "A=1\nB\n");
  CHECK(lacks(needs) == "env_file " + needs.env_file + ", line 2: not NAME=value");

  needs = {};
  needs.run_as.user = "no such user";
  CHECK(lacks(needs) == "no such user 'no such user'");
  needs.run_as = {std::nullopt, "no such group"};
  CHECK(lacks(needs) == "no such group 'no such group'");

  needs = {};
  needs.rlimits = {{"nofile", RLIMIT_NOFILE, 64}, {"core", RLIMIT_CORE, 0}};
  CHECK(lacks(needs).empty());
  needs.rlimits = {{"nofile", RLIMIT_NOFILE, std::uint64_t{1} << 40}};  // above the kernel's limit
  CHECK(lacks(needs) == "cannot set the limit nofile to 1099511627776: Operation not permitted");

  needs = {};
  needs.program = "true";
  CHECK(lacks(needs).empty());
  needs.program = "no-such-program";
  CHECK(lacks(needs) == "not found");
  needs.program = "no/such";
  CHECK(lacks(needs) == "neither a name nor an absolute path");
}

TEST_CASE("access to a directory is checked as the user of the list") {
  if (::geteuid() != 0) return;
  const TempDir directory;
  Prerequisites needs;
  needs.cwd = directory.path();
  needs.run_as.user = "nobody";
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  CHECK(lacks(needs) == "cannot change to directory " + needs.cwd + ": Permission denied");
  REQUIRE(::chmod(directory.path().c_str(), 0711) == 0);
  CHECK(lacks(needs).empty());
}

TEST_CASE("a directory that does not respond delays no other check, and its own check times out") {
  Looking house({"/hangs"});
  house.ask("/hangs", 50ms);
  house.ask("/here");
  house.ask("/gone");
  REQUIRE(house.wait_for_answers(3));
  CHECK(house.answers.back() == "/hangs: cwd /hangs does not respond");
  CHECK(house.told("/here: here") == 1);
  CHECK(house.told("/gone: gone") == 1);

  // A request while the check still hangs starts no second check.
  house.ask("/hangs", 50ms);
  REQUIRE(house.wait_for_answers(4));
  CHECK(house.looked("/hangs") == 1);
  house.ask("/hangs");
  house.gate->open();
  REQUIRE(house.wait_for_answers(5));
  CHECK(house.answers.back() == "/hangs: here");
  CHECK(house.looked("/hangs") == 1);
  house.ask("/hangs");
  REQUIRE(house.wait_for_answers(6));
  CHECK(house.looked("/hangs") == 2);
}

TEST_CASE("checks proceed even if more directories hang than there may be checks at once") {
  std::set<std::string> shut;
  for (std::size_t i = 0; i < executor::PrerequisiteChecker::at_once + 1; ++i)
    shut.insert("/hangs" + std::to_string(i));
  Looking house(shut);
  for (const auto& directory : shut) house.ask(directory);
  house.ask("/here");
  REQUIRE(house.wait_for_answers(1));
  CHECK(house.answers == std::vector<std::string>{"/here: here"});
  house.gate->open();
  CHECK(house.wait_for_answers(1 + shut.size()));
}

TEST_CASE("prerequisites are tested by a child that shares no memory with w8yd") {
  const TempDir directory;
  loop::Loop loop;
  process::SpawnServiceOptions options;
  options.helper = {DOOMED_PROGRAM, "--spawn-helper"};
  process::SpawnService service(loop, options);
  executor::PrerequisiteChecker checks(loop, &service);
  const auto ask = [&](const Prerequisites& needs) {
    std::optional<std::string> answer;
    checks.check(needs, 20s, [&](const std::optional<Ineligibility>& refusal) {
      answer = refusal ? refusal->reason : "";
    });
    REQUIRE(turn_until(loop, [&] { return answer.has_value(); }));
    return *answer;
  };
  Prerequisites needs;
  needs.cwd = directory.path();
  CHECK(ask(needs).empty());
  needs.cwd = directory.path() + "/none";
  CHECK(ask(needs) == "cannot change to directory " + needs.cwd + ": No such file or directory");
  needs.cwd = directory.path();
  needs.env_file = directory.path() + "/none";
  CHECK(ask(needs) == "env_file " + needs.env_file + " not found");
  needs = {};
  needs.rlimits = {{"nofile", RLIMIT_NOFILE, std::uint64_t{1} << 40}};
  CHECK(ask(needs) == "cannot set the limit nofile to 1099511627776: Operation not permitted");
  needs = {};
  needs.run_as.user = "no such user";
  CHECK(ask(needs) == "no such user 'no such user'");
  if (::geteuid() != 0) return;
  needs = {};
  needs.run_as.user = "nobody";
  needs.cwd = directory.path();
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  CHECK(ask(needs) == "cannot change to directory " + needs.cwd + ": Permission denied");
  CHECK(service.helper() != 0);
  REQUIRE(::chmod(directory.path().c_str(), 0711) == 0);
  CHECK(ask(needs).empty());
}

TEST_CASE("a checker may be destroyed while one of its checks hangs") {
  const auto gate = std::make_shared<Gate>();
  gate->shut = {"/hangs"};
  {
    loop::Loop loop;
    executor::PrerequisiteChecker checks(loop, nullptr, Gate::look(gate));
    Prerequisites needs;
    needs.cwd = "/hangs";
    checks.check(needs, 20s, [](const auto&) { FAIL("nobody waits any more"); });
    turn_until(loop, [&] {
      const std::lock_guard lock(gate->mutex);
      return !gate->looked.empty();
    });
  }
  gate->open();
}

TEST_CASE("root runs no program that another user can write, nor one with such an interpreter") {
  if (!is_root()) return;
  const TempDir directory;
  Prerequisites needs;
  needs.program = directory.script("run", "exit 0");
  CHECK(lacks(needs).empty());
  chmod(needs.program.c_str(), 0777);
  CHECK(lacks(needs).find("run can be written by its group or others") != std::string::npos);
  CHECK(lacks(needs).find("set `user`") != std::string::npos);
  needs.run_as.user = "nobody";
  CHECK(lacks(needs).empty());
  needs.run_as.user.reset();
  std::filesystem::create_directories(directory / "theirs");
  std::filesystem::copy_file("/bin/sh", directory / "theirs/sh");
  needs.program =
      directory.file("by-theirs", "#!" + (directory / "theirs/sh") + "\nexit 0\n", 0755);
  CHECK(lacks(needs).empty());
  REQUIRE(chown((directory / "theirs").c_str(), 61234, 61234) == 0);
  CHECK(lacks(needs).find("theirs/sh is in " + (directory / "theirs")) != std::string::npos);
  needs.program = directory.file("by-name", "#! sh\nexit 0\n", 0755);
  CHECK(lacks(needs).find("interpreter without an absolute path: sh") != std::string::npos);
  needs.program =
      directory.file("of-no-format", "exit 0\n", 0755);  // its exec fails for every user
  CHECK(lacks(needs).empty());
}

TEST_CASE("the program of an executor is a prerequisite for root") {
  ListConfig rule;
  rule.executor = "/opt/run";
  CHECK(executor::needs_of(rule).program == (is_root() ? "/opt/run" : ""));
}

}  // namespace needs_test
