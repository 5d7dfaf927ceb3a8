// Control groups: real groups to test kills, if this host allows them, and directories that imitate
// groups to test limits.
#include "process/cgroup.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "executor_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using process::ControlGroups;
using process::GroupLimits;

namespace cgroup_test {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

/// Cgroup hierarchy of a host, as a directory: "/slice" is the group of this process.
struct FakeHost {
  explicit FakeHost(const std::string& controllers = "cpu memory pids") {
    mkdir(base.c_str(), 0755);
    directory.file("slice/cgroup.controllers", controllers + "\n");
    directory.file("slice/cgroup.subtree_control", "");
  }
  [[nodiscard]] process::CgroupPlace place() const {
    return {directory.file("mountinfo", "24 1 0:22 / /proc rw - proc proc rw\n31 1 0:28 / " +
                                            directory.path() + " rw - cgroup2 cgroup2 rw\n"),
            directory.file("cgroup", "4:memory:/other\n0::/slice\n")};
  }
  static std::string file(const std::string& path) {
    return process::read_small_file(path).value_or("(none)");
  }

  TempDir directory;
  std::string base = directory.path() + "/slice";
};

std::string own(const std::string& mountinfo, const std::string& cgroup) {
  const TempDir directory;
  std::string problem;
  const std::string path = process::own_cgroup(
      {directory.file("mountinfo", mountinfo), directory.file("cgroup", cgroup)}, problem);
  return path.empty() ? "no: " + problem : path;
}

/// Returns true, with a message, if the host has no usable groups.
bool skipped(const ControlGroups& groups) {
  if (groups.usable()) return false;
  MESSAGE("skipped: " << groups.problem());
  return true;
}

RunRecorder::Told run_in(ControlGroups& groups, const std::string& script) {
  Bench bench;
  bench.executor = bench.make_any(&groups);
  ListConfig rule = command_rule({"/bin/sh", "-c", script});
  rule.kill_grace = 100ms;
  return bench.run_item("x", rule);
}

/// Group below the group of this process, for one test. Other tests that start at the same time
/// neither find nor remove groups in it.
class Apart {
 public:
  Apart() {
    const std::string name = "/w8y-test-" + std::to_string(getpid());
    std::string problem;
    base = process::own_cgroup({}, problem) + name;
    for (const std::string& line : lines_of(FakeHost::file("/proc/self/cgroup")))
      if (line.starts_with("0::")) place_.cgroup = directory_.file("cgroup", line + name + "\n");
    mkdir(base.c_str(), 0755);
  }
  ~Apart() { process::remove_group(base, 1000); }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  [[nodiscard]] const process::CgroupPlace& place() const { return place_; }

  std::string base;

 private:
  TempDir directory_;
  process::CgroupPlace place_;
};

bool gone(pid_t pid) {
  loop::Loop loop;
  return turn_until(loop, [&] { return !alive(pid); });
}

}  // namespace

TEST_CASE("the group of the process is found, also on hybrid hosts and below a mounted part") {
  const std::string hybrid =
      "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
  CHECK(own(hybrid, "8:pids:/x\n0::/\n") == "/sys/fs/cgroup/unified");
  CHECK(own(hybrid, "0::/system.slice/w8yd.service\n") ==
        "/sys/fs/cgroup/unified/system.slice/w8yd.service");
  const std::string part = "41 31 0:38 /box/1 /sys/fs/c\\040g rw - cgroup2 cgroup2 rw\n";
  CHECK(own(part, "0::/box/1\n") == "/sys/fs/c g");
  CHECK(own(part, "0::/box/1/in\n") == "/sys/fs/c g/in");
  CHECK(own(part, "0::/box/12\n") ==
        "no: the control group /box/12 of w8yd is not visible below the mount point /sys/fs/c g");
  CHECK(own(hybrid, "0::/../x\n").substr(0, 3) == "no:");
  CHECK(own("24 1 0:22 / /proc rw - proc proc rw\n", "0::/\n") == "no: no cgroup2 is mounted");
  CHECK(own(hybrid, "8:pids:/x\n") == "no: this process has no control group of version 2");
}

TEST_CASE("no group is acquired on a host without a group hierarchy, and there is a reason") {
  const TempDir directory;
  ControlGroups groups({directory.path() + "/none", directory.path() + "/none"});
  CHECK(groups.problem() == "no cgroup2 is mounted");
  int error = 1;
  CHECK_FALSE(groups.acquire({mebi, 5}, error));
  CHECK(error == 0);  // the run starts without a group
  CHECK(groups.prepare({mebi, {}}) == "no cgroup2 is mounted");
}

TEST_CASE("limits are written once, and reset when the group serves another list") {
  const FakeHost host;
  ControlGroups groups(host.place());
  REQUIRE(groups.problem().empty());
  CHECK(groups.prepare({64 * mebi, 50}).empty());
  CHECK(host.file(host.base + "/cgroup.subtree_control") == "+cpu");
  CHECK(host.file(groups.path() + "/cgroup.subtree_control") == "+cpu");
  CHECK_FALSE(std::filesystem::exists(groups.path() + "/supervisor"));  // not needed here

  int error = 0;
  const std::string one = groups.path() + "/1";
  groups.acquire({64 * mebi, 50}, error);
  REQUIRE(error == 0);
  CHECK(host.file(one + "/memory.max") == "67108864");
  CHECK(host.file(one + "/memory.oom.group") == "1");
  CHECK(host.file(one + "/cpu.weight") == "50");
  host.directory.file("slice/" + one.substr(host.base.size() + 1) + "/memory.max", "untouched");
  groups.acquire({64 * mebi, 50}, error);
  CHECK(host.file(one + "/memory.max") == "untouched");
  groups.acquire({}, error);
  CHECK(host.file(one + "/memory.max") == "max");
  CHECK(host.file(one + "/memory.oom.group") == "0");
  CHECK(host.file(one + "/cpu.weight") == "100");
}

TEST_CASE("a group reports the use of its current run, regardless of earlier runs") {
  const FakeHost host;
  ControlGroups groups(host.place());
  CHECK(groups.prepare({64 * mebi, {}}).empty());
  const std::string one = "slice/" + groups.path().substr(host.base.size() + 1) + "/1/";
  /// Acquires a group, sets its counters to these values, and measures.
  const auto run = [&](const GroupLimits& limits, const std::string& cpu, const std::string& peak,
                       const std::string& kills, bool measured = true) {
    int error = 0;
    auto group = groups.acquire(limits, error);
    host.directory.file(one + "cpu.stat", "usage_usec " + cpu + "\nuser_usec 1\n");
    host.directory.file(one + "memory.peak", peak + "\n");
    host.directory.file(one + "memory.events", "oom " + kills + "\noom_kill " + kills + "\n");
    ResourceUse used{1us, 1};
    const std::string why = measured ? group->measure(used) : "";
    return std::to_string(used.cpu->count()) + " us, " + std::to_string(*used.peak_memory) +
           (why.empty() ? "" : ", " + why);
  };
  const GroupLimits limited{64 * mebi, {}};
  CHECK(run(limited, "3000", "5000", "0") == "3000 us, 5000");
  CHECK(run(limited, "3500", "4000", "0") == "500 us, 4000");
  run(limited, "9000", "6000", "0", false);
  CHECK(run({}, "9100", "6000", "3") == "100 us, 1");
  CHECK(run(limited, "9101", "67108864", "5") ==
        "1 us, 67108864, killed by the kernel: out of memory, limit 64MiB");
  CHECK(run({}, "9101", "0", "6") == "0 us, 1");
  CHECK(run(limited, "9102", "4000", "6") == "1 us, 4000");
}

TEST_CASE("two runs at once have two groups, and a limit file that does not exist is not created") {
  const FakeHost host;
  ControlGroups groups(host.place());
  groups.prepare({mebi, {}});
  int error = 0;
  {
    const auto bounded = groups.acquire({mebi, {}}, error);
    const auto plain = groups.acquire({}, error);
    CHECK(std::filesystem::exists(groups.path() + "/2"));
  }
  CHECK(host.file(groups.path() + "/2/memory.max") == "(none)");
  { const auto again = groups.acquire({mebi, {}}, error); }
  CHECK(host.file(groups.path() + "/2/memory.max") == "(none)");
  CHECK_FALSE(std::filesystem::exists(groups.path() + "/3"));
}

TEST_CASE("a missing controller is named, and its limit is not written") {
  const FakeHost host("cpu");
  ControlGroups groups(host.place());
  CHECK(groups.prepare({mebi, 50}) == "no memory controller in " + host.base);
  int error = 0;
  CHECK(groups.acquire({mebi, 50}, error));
  CHECK(host.file(groups.path() + "/1/memory.max") == "(none)");
  CHECK(host.file(groups.path() + "/1/cpu.weight") == "50");
}

TEST_CASE("a limit that cannot be set is a shortage of the host, and no run starts without it") {
  const FakeHost host;
  ControlGroups groups(host.place());
  groups.prepare({mebi, {}});
  int error = 0;
  groups.acquire({}, error);
  mkdir((groups.path() + "/1/memory.max").c_str(), 0755);  // not writable
  CHECK_FALSE(groups.acquire({mebi, {}}, error));
  CHECK(error == EISDIR);
  Bench bench;
  bench.executor = bench.make_any(&groups);
  ListConfig rule = command_rule({"/bin/true"});
  rule.child.edit().memory_max = mebi;
  const auto told = bench.run_item("x", rule);
  CHECK(told.reason() == "cannot create a control group: Is a directory");
  CHECK(std::get<NotStarted>(told.end->process).host_is_short);
}

TEST_CASE(
    "a group that accepts no children is reported once, and runs start in the group of w8yd") {
  const FakeHost host;  // its directories are not groups
  ControlGroups groups(host.place());
  std::vector<std::string> said;
  groups.on_problem = [&](const std::string& why) { said.push_back(why); };
  for (int i = 0; i < 3; ++i) CHECK(run_in(groups, "exit 0").reason() == "exit 0");
  CHECK(said == std::vector<std::string>{
                    "cannot start children in the control group: Bad file descriptor"});
  CHECK_FALSE(groups.usable());
}

TEST_CASE("group names contain their owner, and a group of a dead owner is detected") {
  const std::string name = process::group_name_of(getpid());
  CHECK_FALSE(process::is_left_behind(name));
  // The first process ID was reused. The second group belongs to another PID namespace.
  CHECK(process::is_left_behind(name + "0"));
  CHECK_FALSE(process::is_left_behind("w8yd-1-" + std::to_string(getpid()) + "-1"));
  for (const char* other : {"system.slice", "w8yd-", "w8yd-x-1-1"})
    CHECK_FALSE(process::is_left_behind(other));
  const std::string here = name.substr(0, name.find('-', 5) + 1);
  CHECK(process::is_left_behind(here + "4000000-5"));
  CHECK_FALSE(process::is_left_behind(here + "4000000"));
}

// Tests with real groups.

TEST_CASE("a grandchild in its own session ends with the run, even if it has closed its outputs") {
  ControlGroups groups;
  if (skipped(groups)) return;
  const auto told = run_in(groups,
                           "setsid sh -c 'trap \"\" TERM HUP; echo $$ >&3; exec sleep 1000' "
                           "3>&1 >/dev/null 2>&1 & sleep 0.2; exit 0");
  CHECK(told.reason() == "exit 0");
  REQUIRE(told.log.size() == 1);
  CHECK(gone(std::stoi(told.log[0])));
}

TEST_CASE(
    "a grandchild that holds the outputs gets the grace time, and is not waited for after the "
    "kill") {
  ControlGroups groups;
  if (skipped(groups)) return;
  loop::SystemClock clock;
  Duration shortest = 1h;
  // On a busy machine some of the attempts may take longer, but not all attempts.
  for (int i = 0; i < 10 && shortest >= 900ms; ++i) {
    const Instant start = clock.now();
    const auto told = run_in(groups, "setsid sleep 1000 & echo $!; exit 3");
    shortest = std::min(shortest, Duration(clock.now() - start));
    CHECK(told.reason() == "exit 3");
    CHECK(gone(std::stoi(told.log.at(0))));
  }
  CHECK(shortest >= 100ms);
  CHECK(shortest < 900ms);  // without a group it takes 1 s more
}

TEST_CASE("a kill reaches all processes of a run") {
  ControlGroups groups;
  if (skipped(groups)) return;
  Bench bench;
  bench.executor = bench.make_any(&groups);
  bench.start({"A", "x", {}, 1, 1},
              command_rule({"/bin/sh", "-c", "setsid sh -c 'echo $$; sleep 1000' & sleep 1000"}));
  REQUIRE(bench.wait([&] { return !bench.recorder.runs["A"].log.empty(); }));
  const pid_t away = std::stoi(bench.recorder.runs["A"].log[0]);
  bench.executor->kill("A");
  REQUIRE(bench.wait([&] { return bench.recorder.runs["A"].end.has_value(); }));
  CHECK(bench.recorder.runs["A"].reason() == "signal 9 (SIGKILL)");
  CHECK(gone(away));
}

TEST_CASE("groups are reused, and removed at the end") {
  std::string path;
  {
    ControlGroups groups;
    if (skipped(groups)) return;
    path = groups.path();
    for (int i = 0; i < 20; ++i) CHECK(run_in(groups, "exit 0").reason() == "exit 0");
    CHECK(process::groups_in(path) == std::vector<std::string>{"1"});
    const std::size_t before = open_descriptors();
    run_in(groups, "exit 0");
    CHECK(open_descriptors() == before);
    // A process that survives for a moment does not delay the next run.
    run_in(groups, "setsid sleep 1000 >/dev/null 2>&1 & sleep 0.05");
    run_in(groups, "exit 0");
    CHECK(process::groups_in(path).size() <= 2);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a killed group serves no other run") {
  ControlGroups groups;
  if (skipped(groups)) return;
  for (int i = 0; i < 3; ++i) {
    CHECK(run_in(groups, "setsid sleep 1000 >/dev/null 2>&1 & exit 0").reason() == "exit 0");
    for (int more = 0; more < 3; ++more) CHECK(run_in(groups, "exit 0").reason() == "exit 0");
  }
  CHECK(process::groups_in(groups.path()).size() <= 2);
}

TEST_CASE("runs start even if the group of w8yd was killed before") {
  std::string problem;
  const std::string own_group = process::own_cgroup({}, problem);
  const std::string killed = own_group + "/w8y-test-" + std::to_string(getpid());
  if (own_group.empty() || mkdir(killed.c_str(), 0755) != 0) {
    MESSAGE("skipped: no group can be made here");
    return;
  }
  CHECK(process::kill_group(killed) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    bool good = process::write_small_file(killed + "/cgroup.procs", "0") == 0;
    {
      // With or without groups, depending on the kernel.
      ControlGroups groups;
      Bench bench;
      bench.executor = bench.make_any(&groups);
      for (int i = 0; i < 3; ++i)
        good = good &&
               bench.run_item("x", command_rule({"/bin/sh", "-c", "exit 0"})).reason() == "exit 0";
    }
    _exit(good ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  CHECK(process::remove_group(killed, 1000));
}

TEST_CASE("groups left by a killed w8yd are killed and removed by the next one") {
  if (skipped(ControlGroups())) return;
  const Apart apart;
  const std::string own_name = process::group_name_of(getpid());
  const std::string left =
      apart.base + '/' + own_name.substr(0, own_name.find('-', 5)) + "-4000000-5";
  REQUIRE(mkdir(left.c_str(), 0755) == 0);
  REQUIRE(mkdir((left + "/1").c_str(), 0755) == 0);
  const Fd directory(open((left + "/1").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  process::SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  request.group = directory.get();
  process::Spawned spawned;
  REQUIRE_FALSE(process::spawn(request, spawned));
  CHECK(spawned.group_error == 0);
  const Fd pidfd(spawned.pidfd);

  const ControlGroups groups(apart.place());
  CHECK(groups.left_behind() == 1);
  int status = 0;
  waitpid(spawned.pid, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("a group removed by another process is replaced") {
  ControlGroups groups;
  if (skipped(groups)) return;
  run_in(groups, "exit 0");
  REQUIRE(process::remove_group(groups.path() + "/1", 1000));
  CHECK(run_in(groups, "exit 0").reason() == "exit 0");
  CHECK(groups.usable());
  run_in(groups, "exit 0");
  CHECK(process::groups_in(groups.path()) == std::vector<std::string>{"2"});
}

TEST_CASE("a shortage of descriptors costs a plain run its group, but not its start") {
  ControlGroups groups;
  if (skipped(groups)) return;
  int error = 1;
  {
    const NoDescriptors none;
    CHECK_FALSE(groups.acquire({}, error));
  }
  CHECK(error == 0);
  CHECK(groups.usable());
  CHECK(groups.acquire({}, error));
}

}  // namespace cgroup_test
