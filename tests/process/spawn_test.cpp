// Properties of a spawned child.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "core/fd.hpp"
#include "process/credentials.hpp"
#include "process/find_program.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace spawn_test {
namespace {

const std::vector<std::string> own_status = {"/bin/cat", "/proc/self/status"};

/// Returns /proc/self/status of a child with these options.
template <typename Change>
std::string status_with(Change&& change) {
  auto options = command(own_status);
  change(options.spawn);
  const Result result = run(options);
  REQUIRE(result.reason() == "exit 0");
  return result.out;
}

std::uint64_t signals(const std::string& status, const std::string& name) {
  return std::stoull(field(status, name), nullptr, 16);
}

constexpr std::uint64_t bit(int number) {
  return std::uint64_t{1} << (number - 1);
}

void nothing(int) {}

}  // namespace

TEST_CASE("a child has the requested arguments and environment, and its exit status is returned") {
  auto options = sh(R"(printf '%s|' "$0" "$@"; env -0 | tr '\0' '|'; exit 7)");
  options.spawn.argv.insert(options.spawn.argv.end(), {"zero", "a b", "", "*\n'\""});
  options.spawn.env = {"A=1", "B=x y"};
  const Result result = run(options);
  CHECK(result.out.starts_with("zero|a b||*\n'\"|"));
  CHECK(result.out.find("A=1|") != std::string::npos);
  CHECK(result.out.find("B=x y|") != std::string::npos);
  CHECK(result.out.find("PATH=/usr") == std::string::npos);
  CHECK(result.code() == 7);
}

TEST_CASE("a child leads a session and a process group of its own if requested") {
  const std::string own = status_with([](auto&) {});
  CHECK(field(own, "NSsid") == field(own, "Pid"));
  CHECK(field(own, "NSpgid") == field(own, "Pid"));
  const std::string ours = status_with([](auto& spawn) { spawn.own_session = false; });
  CHECK(field(ours, "NSsid") == std::to_string(getsid(0)));
  CHECK(field(ours, "NSpgid") == std::to_string(getpgrp()));
}

TEST_CASE("a child neither blocks nor ignores signals, even if its parent does") {
  sigset_t blocked;
  sigfillset(&blocked);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  auto* old_hup = std::signal(SIGHUP, SIG_IGN);
  auto* old_usr1 = std::signal(SIGUSR1, nothing);

  const std::string plain = status_with([](auto&) {});
  CHECK(signals(plain, "SigBlk") == 0);
  CHECK(signals(plain, "SigIgn") == 0);
  CHECK(signals(plain, "SigCgt") == 0);
  const std::string kept = status_with([](auto& spawn) { spawn.keep_ignored = true; });
  // Except SIGPIPE: main() of the test ignores it, but a child does not inherit that.
  CHECK(signals(kept, "SigIgn") == (ignored_signals() & ~bit(SIGPIPE)));
  CHECK((signals(kept, "SigIgn") & bit(SIGHUP)) != 0);

  std::signal(SIGHUP, old_hup);
  std::signal(SIGUSR1, old_usr1);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK(sigismember(&after, SIGUSR2) == 1);  // the mask of the parent was restored
}

TEST_CASE("a child has no descriptors except 0, 1 and 2") {
  const Fd leaky(open("/dev/zero", O_RDONLY));
  const Fd high(fcntl(leaky.get(), F_DUPFD, 500));
  const Result result = run(std::vector<std::string>{"/bin/ls", "/proc/self/fd"});
  CHECK(result.out == "0\n1\n2\n3\n");  // 3 is the directory that ls reads

  auto options = command({"/bin/ls", "/proc/self/fd"});
  options.spawn.close_others = false;
  CHECK(run(options).out.find("500\n") != std::string::npos);
}

TEST_CASE("standard streams may be any descriptors, even in crossed order") {
  const TempDir directory;
  const Fd out(open(directory.file("out", "").c_str(), O_WRONLY | O_CLOEXEC));
  const Fd err(open(directory.file("err", "").c_str(), O_WRONLY | O_CLOEXEC));
  const Fd in(open(directory.file("in", "input").c_str(), O_RDONLY | O_CLOEXEC));
  const int saved[3] = {dup(0), dup(1), dup(2)};
  // Stream 0 of the child is descriptor 2, stream 1 is descriptor 0, and stream 2 is descriptor 1.
  dup3(in.get(), 2, O_CLOEXEC);
  dup3(out.get(), 0, O_CLOEXEC);
  dup3(err.get(), 1, O_CLOEXEC);
  process::SpawnRequest request = sh("cat; echo error >&2").spawn;
  request.in = 2;
  request.out = 0;
  request.err = 1;
  process::Spawned spawned;
  const auto problem = process::spawn(request, spawned);
  for (int fd = 0; fd < 3; ++fd) {
    dup2(saved[fd], fd);
    close(saved[fd]);
  }
  REQUIRE_FALSE(problem);
  waitpid(spawned.pid, nullptr, 0);
  close(spawned.pidfd);
  CHECK(directory.read("out") == "input");
  CHECK(directory.read("err") == "error\n");

  // A descriptor that already has the number it needs in the child, but that exec would close.
  process::SpawnRequest same = sh("exit $(ls /proc/self/fd | wc -l)").spawn;
  const int flags = fcntl(0, F_GETFD);
  fcntl(0, F_SETFD, FD_CLOEXEC);
  same.in = 0;
  REQUIRE_FALSE(process::spawn(same, spawned));
  fcntl(0, F_SETFD, flags);
  int status = 0;
  waitpid(spawned.pid, &status, 0);
  close(spawned.pidfd);
  CHECK(WEXITSTATUS(status) == 4);
}

TEST_CASE("cwd, umask, nice and no_new_privs apply to the child") {
  const TempDir directory;
  auto options = command({"/bin/pwd"});
  options.spawn.cwd = directory.path();
  CHECK(run(options).out == directory.path() + "\n");

  CHECK(field(status_with([](auto& spawn) { spawn.umask = 0027; }), "Umask") == "0027");
  CHECK(field(status_with([](auto&) {}), "NoNewPrivs") == "0");
  CHECK(field(status_with([](auto& spawn) { spawn.no_new_privs = true; }), "NoNewPrivs") == "1");
  auto nice = command({"/usr/bin/nice"});
  nice.spawn.nice = 7;
  CHECK(run(nice).out == "7\n");
}

TEST_CASE("resource limits apply to the child, including unlimited ones") {
  auto options = sh("ulimit -n; ulimit -Hn; ulimit -c; ulimit -t");
  options.spawn.rlimits = {{"nofile", RLIMIT_NOFILE, 64}, {"core", RLIMIT_CORE, 0}};
  if (is_root()) options.spawn.rlimits.push_back({"cpu", RLIMIT_CPU, std::nullopt});
  CHECK(run(options).out == "64\n64\n0\nunlimited\n");
}

TEST_CASE("a child runs as another user, with the groups of that user") {
  if (!is_root()) return;
  process::Account account;
  REQUIRE_FALSE(process::resolve({"nobody", std::nullopt}, account));
  CHECK(account.name == "nobody");
  const std::string status = status_with([&](auto& spawn) {
    spawn.credentials = process::Credentials{65534, 65534, {65534, 12345}};
    spawn.umask = 0022;
  });
  CHECK(field(status, "Uid") == "65534\t65534\t65534\t65534");
  CHECK(field(status, "Gid") == "65534\t65534\t65534\t65534");
  CHECK(field(status, "Groups") == "12345 65534");
  CHECK(prctl(PR_GET_DUMPABLE) == 1);  // the change in the child does not affect the parent
}

TEST_CASE("an account is found by name and by number") {
  process::Account account;
  REQUIRE_FALSE(process::resolve({}, account));
  CHECK_FALSE(account.credentials);
  if (is_root()) {
    REQUIRE_FALSE(process::resolve({"65534", std::nullopt}, account));
    REQUIRE(account.credentials);
    CHECK(account.name == "nobody");
    CHECK(account.credentials->uid == 65534);
    CHECK(account.credentials->groups == std::vector<gid_t>{65534});
    REQUIRE_FALSE(process::resolve({"4000000", "4000001"}, account));
    REQUIRE(account.credentials);
    CHECK(account.credentials->uid == 4000000);
    CHECK(account.credentials->gid == 4000001);
    CHECK(account.name == "4000000");
    REQUIRE_FALSE(process::resolve({std::nullopt, "nogroup"}, account));
    REQUIRE(account.credentials);
    CHECK(account.credentials->uid == 0);
    CHECK(account.credentials->gid == 65534);
    CHECK(account.name.empty());
  }
  const auto problem = [&](const RunAs& run_as) {
    const auto error = process::resolve(run_as, account);
    CHECK_FALSE((error && error->host_is_short()));
    return error ? error->text : "";
  };
  CHECK(problem({"no-such-user", std::nullopt}) == "no such user 'no-such-user'");
  CHECK(problem({std::nullopt, "no-such-group"}) == "no such group 'no-such-group'");
  CHECK(problem({"4000000", std::nullopt}) == "user 4000000 has no account; set `group`, too");
}

TEST_CASE("a program is searched in PATH as a shell does, except in relative directories") {
  const TempDir directory;
  const std::string tool = directory.script("w8y-test-tool", "exit 0");
  directory.file("w8y-test-data", "no program");
  const std::string before = std::getenv("PATH");
  setenv("PATH", (":.:/nonexistent:" + directory.path()).c_str(), 1);
  CHECK(process::find_program("w8y-test-tool").path == tool);
  CHECK(process::find_program("w8y-test-data").problem == "not executable");
  CHECK(process::find_program("w8y-test-none").problem == "not found");
  CHECK(process::find_program("").problem == "not found");
  CHECK(process::find_program(tool).path == tool);
  CHECK(process::find_program(directory.path()).problem == "not executable");
  setenv("PATH", ".", 1);
  CHECK(process::find_program("w8y-test-tool").problem == "not found");
  setenv("PATH", before.c_str(), 1);
}

TEST_CASE("a child dies with its parent even after SIGKILL, with the same or other credentials") {
  std::vector<std::string> users = {""};
  if (is_root()) users.emplace_back("nobody");
  for (const std::string& user : users) {
    auto options = command({DOOMED_PROGRAM, user});
    loop::Loop loop;
    Recorder recorder;
    process::Child parent(loop, options, recorder);
    REQUIRE(turn_until(loop, [&] { return recorder.out.ends_with("\n"); }));
    const pid_t grandchild = std::stoi(recorder.out);
    CHECK(alive(grandchild));
    parent.signal(SIGKILL);
    CHECK(turn_until(loop, [&] { return recorder.end && !alive(grandchild); }));
  }
}

TEST_CASE("descriptors are closed one by one on a system without close_range") {
  const Result result = run(std::vector<std::string>{NO_CLOSE_RANGE_PROGRAM});
  CHECK(result.out == "0\n1\n2\n3\n");
  CHECK(result.reason() == "exit 0");
}

}  // namespace spawn_test
