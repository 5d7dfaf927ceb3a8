// Error texts of each kind of failed start.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace spawn_error_test {
namespace {

template <typename Change>
process::SpawnError error_of(Change&& change) {
  process::SpawnRequest request;
  request.program = "/bin/true";
  request.argv = {"true"};
  change(request);
  process::Spawned spawned;
  const auto error = process::spawn(request, spawned);
  REQUIRE(error);
  CHECK(spawned.pid == 0);
  CHECK(spawned.pidfd == -1);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
  CHECK_FALSE(error->host_is_short());
  return *error;
}

template <typename Change>
std::string text_of(Change&& change) {
  return error_of(change).text;
}

std::string text_of_program(const std::string& program) {
  return text_of([&](auto& request) { request.program = program; });
}

}  // namespace

TEST_CASE("a program that cannot be run is an error with its reason") {
  const TempDir directory;
  CHECK(text_of_program("/nonexistent/x") ==
        "cannot run /nonexistent/x: No such file or directory");
  const std::string plain = directory.file("plain", "#!/bin/sh\n");
  CHECK(text_of_program(plain) == "cannot run " + plain + ": Permission denied");
  CHECK(text_of_program(directory.path()) ==
        "cannot run " + directory.path() + ": Permission denied");
  const std::string orphan = directory.file("orphan", "#!/no/such/interpreter\n", 0755);
  CHECK(text_of_program(orphan) ==
        "cannot run " + orphan + ": the interpreter that it names is not there");
  const std::string text = directory.file("text", "just text\n", 0755);
  CHECK(text_of_program(text) ==
        "cannot run " + text + ": Exec format error (a script needs a first line with #!)");
  CHECK(text_of_program("") == "the name of the program is empty or contains a NUL byte");
  CHECK(text_of_program(std::string("/bin/true\0x", 11)) ==
        "the name of the program is empty or contains a NUL byte");
}

TEST_CASE("invalid arguments and variables are errors") {
  const process::SpawnError too_long =
      error_of([](auto& request) { request.argv.emplace_back(200'000, 'x'); });
  CHECK(too_long.error == E2BIG);
  CHECK(too_long.text == "cannot run /bin/true: arguments and environment are too long");
  CHECK(text_of([](auto& request) { request.argv.emplace_back("a\0b", 3); }) ==
        "argument 1 contains a NUL byte");
  CHECK(text_of([](auto& request) { request.env.emplace_back("A=\0b", 4); }) ==
        "environment variable A contains a NUL byte");
}

TEST_CASE("a directory, limit or user that is not available is an error") {
  const TempDir directory;
  CHECK(text_of([](auto& request) { request.cwd = "/nonexistent"; }) ==
        "cannot change to directory /nonexistent: No such file or directory");
  const std::string file = directory.file("file", "");
  CHECK(text_of([&](auto& request) { request.cwd = file; }) ==
        "cannot change to directory " + file + ": Not a directory");
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  CHECK(text_of([](auto& request) {
          request.rlimits = {{"core", RLIMIT_CORE, 0},
                             {"nofile", RLIMIT_NOFILE, std::uint64_t{1} << 40}};
        }) == "cannot set the limit nofile to 1099511627776: Operation not permitted");
  if (!is_root()) return;
  // The directory is entered as the user.
  CHECK(text_of([&](auto& request) {
          request.cwd = "/root";
          request.credentials = process::Credentials{65534, 65534, {65534}};
        }) == "cannot change to directory /root: Permission denied");
}

TEST_CASE("a lack of descriptors is reported as a shortage of the host") {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  process::SpawnRequest request;
  request.program = "/bin/true";
  request.argv = {"true"};
  process::Spawned spawned;
  const auto error = process::spawn(request, spawned);
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(error);
  CHECK(error->text == "cannot create a process: Too many open files");
  CHECK(error->host_is_short());
}

TEST_CASE("a lack of processes is a shortage of the host, even if exec fails with it") {
  if (!is_root()) return;
  process::SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  request.credentials = process::Credentials{4000123, 4000123, {}};
  process::Spawned first;
  REQUIRE_FALSE(process::spawn(request, first));
  request.rlimits = {{"nproc", RLIMIT_NPROC, 0}};
  process::Spawned second;
  const auto error = process::spawn(request, second);
  kill(first.pid, SIGKILL);
  waitpid(first.pid, nullptr, 0);
  close(first.pidfd);
  REQUIRE(error);
  CHECK(error->text == "cannot run /bin/sleep: Resource temporarily unavailable");
  CHECK(error->host_is_short());
}

}  // namespace spawn_error_test
