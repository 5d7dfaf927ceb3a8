// Hosts without descriptors, processes or disk space: reported errors, and recovery.
#include <doctest/doctest.h>
#include <sys/mount.h>

#include <cstdlib>

#include "executor/probe.hpp"
#include "executor_support.hpp"
#include "process/credentials.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace shortage_test {
namespace {

bool short_of_something(const RunRecorder::Told& told) {
  const auto* unstarted = std::get_if<NotStarted>(&told.end->process);
  return unstarted != nullptr && unstarted->host_is_short && !unstarted->item_at_fault;
}

/// Changes TMPDIR while it exists.
class TemporaryPlace {
 public:
  explicit TemporaryPlace(const std::string& path) { setenv("TMPDIR", path.c_str(), 1); }
  ~TemporaryPlace() { unsetenv("TMPDIR"); }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
};

}  // namespace

TEST_CASE(
    "a run without free descriptors reports a shortage of the host, and the next run starts") {
  Bench bench;
  CHECK(bench.run_item("x", command_rule({"true"})).reason() == "exit 0");
  std::optional<RunRecorder::Told> told;
  {
    const NoDescriptors none(4);  // enough for the pipes, and for one more of UBSan
    told = bench.run_item("x", command_rule({"/bin/true"}));
  }
  CHECK(told->reason() == "cannot create a process: Too many open files");
  CHECK(short_of_something(*told));
  CHECK(bench.run_item("x", command_rule({"true"})).reason() == "exit 0");
}

TEST_CASE("files that cannot be read without descriptors are a shortage of the host") {
  const TempDir directory;
  Bench bench;
  ListConfig rule = command_rule({"/bin/true"});
  rule.child.edit().env_file = directory.file("env", "A=1\n");
  std::optional<RunRecorder::Told> told;
  std::optional<process::SpawnError> find_account;
  {
    const NoDescriptors none;
    told = bench.run_item("x", rule);
    process::Account account;
    find_account = process::resolve({"nobody", std::nullopt}, account);
  }
  CHECK(told->reason() == "cannot create a pipe: Too many open files");
  CHECK(short_of_something(*told));
  // The look-up may succeed without a free descriptor if this process has made one before.
  if (find_account)
    CHECK(find_account->text == "cannot look up user 'nobody': Too many open files");
  if (find_account) CHECK(find_account->host_is_short());
}

TEST_CASE("a missing directory for temporary directories is a shortage of the host") {
  ListConfig rule = command_rule({"/bin/true"});
  rule.child.edit().cwd = "temp";
  Bench bench;
  {
    const TemporaryPlace gone("/nonexistent");
    const auto told = bench.run_item("x", rule);
    CHECK(told.reason() == "cannot create a directory in /nonexistent: No such file or directory");
    CHECK(short_of_something(told));
  }
  CHECK(bench.run_item("x", rule).reason() == "exit 0");
}

TEST_CASE("a full disk is a shortage for runs with a temporary directory until there is space") {
  const TempDir directory;
  // The only inode is that of the directory itself.
  if (mount("none", directory.path().c_str(), "tmpfs", 0, "nr_inodes=1") != 0) {
    MESSAGE("skipped: nothing can be mounted here");
    return;
  }
  ListConfig rule = command_rule({"/bin/true"});
  rule.child.edit().cwd = "temp";
  Bench bench;
  const TemporaryPlace small(directory.path());
  const auto told = bench.run_item("x", rule);
  CHECK(mount("none", directory.path().c_str(), "tmpfs", MS_REMOUNT, "nr_inodes=100") == 0);
  const auto next = bench.run_item("x", rule);
  umount(directory.path().c_str());
  CHECK(told.reason() ==
        "cannot create a directory in " + directory.path() + ": No space left on device");
  CHECK(short_of_something(told));
  CHECK(next.reason() == "exit 0");
}

TEST_CASE("a probe waits during a shortage of the host, and reports it if it takes too long") {
  const TempDir directory;
  const std::string path = directory.script("x", R"(echo '{"type":"caps","caps":["single"]}')");
  CHECK(run(sh("exit 0")).code() == 0);  // keeps /dev/null open
  loop::Loop loop;
  executor::ProcessProber prober(loop);
  std::optional<ProbeResult> answer;
  const auto ask = [&](Duration timeout) {
    answer.reset();
    prober.probe({path, {}, {}}, timeout,
                 [&](ProbeResult&& result) { answer = std::move(result); });
  };
  const auto answered = [&] { return answer.has_value(); };
  {
    const NoDescriptors none(4);  // as above
    ask(100ms);
    REQUIRE(turn_until(loop, answered));
    const std::string why = std::get<Ineligibility>(*answer).reason;
    CHECK(why.find("Too many open files") != std::string::npos);
    ask(20s);
    turn_until(loop, answered, 300ms);
    CHECK_FALSE(answered());
  }
  REQUIRE(turn_until(loop, answered));
  CHECK(std::holds_alternative<Caps>(*answer));
}

}  // namespace shortage_test
