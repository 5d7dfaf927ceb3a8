#include "http/unix_listener.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;

namespace unix_listener_test {
namespace {

std::string problem_of(const std::string& path) {
  try {
    const UnixListener listener(path);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string own_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

TEST_CASE("a socket has mode 0660 in a new directory, and is removed at the end") {
  const TempDir directory;
  const std::string path = directory / "run/w8y/s.sock";
  {
    const UnixListener listener(path);
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK(S_ISSOCK(status.st_mode));
    CHECK((status.st_mode & 0777) == 0660);
    CHECK(RawClient(path).connected());
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("root creates its socket below no directory that another user can write") {
  if (geteuid() != 0) return;
  const TempDir directory;
  std::filesystem::create_directories(directory / "theirs/run");
  { const UnixListener listener(directory / "theirs/run/s"); }
  REQUIRE(chown((directory / "theirs").c_str(), 61234, 61234) == 0);
  const std::string why =
      "its directory is in " + (directory / "theirs") + ", which belongs to user 61234";
  CHECK(problem_of(directory / "theirs/run/s").find(why) != std::string::npos);
  // No directory is created below a directory of another user.
  CHECK(problem_of(directory / "theirs/new/s").find("belongs to user 61234") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(directory / "theirs/new"));
  CHECK_THROWS_AS(check_socket_directory(directory / "theirs/run/s"), std::runtime_error);
}

TEST_CASE("a socket with a listener is kept") {
  const TempDir directory;
  const UnixListener first(directory / "s");
  CHECK(problem_of(directory / "s") == "the status socket is in use by " + own_name() + " (pid " +
                                           std::to_string(getpid()) + "): " + (directory / "s"));
  CHECK_THROWS_AS(UnixListener(directory / "s"), SocketInUse);
  REQUIRE(who_listens(directory / "s"));
  CHECK(who_listens(directory / "s")->pid == getpid());
  CHECK_FALSE(who_listens(directory / "none"));
  CHECK_FALSE(who_listens(directory / "no/folder"));
  CHECK(RawClient(directory / "s").connected());
}

TEST_CASE("a socket without a listener is replaced") {
  const TempDir directory;
  close(UnixListener(directory / "other").release());
  {
    UnixListener dead(directory / "s");
    close(dead.release());
    std::filesystem::rename(directory / "s", directory / "kept");
  }
  std::filesystem::rename(directory / "kept", directory / "s");
  const UnixListener next(directory / "s");
  CHECK(RawClient(directory / "s").connected());
}

TEST_CASE("a file that is not a socket is kept") {
  const TempDir directory;
  std::ofstream(directory / "s") << "precious";
  CHECK(problem_of(directory / "s").find("not a socket") != std::string::npos);
  CHECK(read_file(directory / "s") == "precious");
  std::filesystem::create_symlink(directory / "s", directory / "link");
  CHECK(problem_of(directory / "link").find("not a socket") != std::string::npos);
}

TEST_CASE("a socket of another listener at the same path is kept at the end") {
  const TempDir directory;
  auto ours = std::make_unique<UnixListener>(directory / "s");
  std::filesystem::remove(directory / "s");
  const UnixListener theirs(directory / "s");
  ours.reset();
  CHECK(RawClient(directory / "s").connected());
}

TEST_CASE("paths that do not fit into an address are refused") {
  CHECK(problem_of("/tmp/" + std::string(120, 'x')).find("longer than 107") != std::string::npos);
  CHECK_FALSE(problem_of("").empty());
}

TEST_CASE("a socket directory that others can write is refused") {
  const TempDir directory;
  const std::string open = directory / "open";
  REQUIRE(mkdir(open.c_str(), 0700) == 0);
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    REQUIRE(chmod(open.c_str(), mode) == 0);
    CHECK(problem_of(open + "/s.sock").find("can be written by its group or others") !=
          std::string::npos);
  }
  REQUIRE(chmod(open.c_str(), 0755) == 0);
  CHECK(problem_of(open + "/s.sock").empty());
  if (geteuid() != 0) return;
  REQUIRE(chown(open.c_str(), 61234, 61234) == 0);
  CHECK(problem_of(open + "/s.sock").find("belongs to user 61234") != std::string::npos);
}

}  // namespace unix_listener_test
