// Timefiles on real files: a path that another user controls neither blocks nor redirects a write.
#include "app/timefiles.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "app_support.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::test;

namespace timefiles_test {
namespace {

struct Host {
  loop::Loop loop;
  FakeLog log;
  app::Timefiles timefiles{loop, log};

  bool logs(const std::string& words) {
    return turn_until(loop, [&] { return log.count(words) > 0; });
  }
};

}  // namespace

TEST_CASE("a time is written under a temporary name and renamed") {
  const TempDir dir;
  Host host;
  host.timefiles.record(dir / "time", 42);
  CHECK(turn_until(host.loop, [&] { return dir.read("time") == "42"; }));
  CHECK_FALSE(std::filesystem::exists(dir / "time.0"));
}

TEST_CASE("a FIFO at the path of the temporary file blocks no thread, and is reported") {
  const TempDir dir;
  REQUIRE(mkfifo((dir / "time.0").c_str(), 0666) == 0);
  Host host;
  host.timefiles.record(dir / "time", 42);
  CHECK(host.logs("time.0 is a FIFO that no process reads"));
  std::filesystem::remove(dir / "time.0");
  host.timefiles.record(dir / "time", 43);
  CHECK(host.logs("timefile written again"));
  CHECK(dir.read("time") == "43");
}

TEST_CASE("root writes no timefile in a directory that another user owns or linked") {
  if (geteuid() != 0) return;
  const TempDir dir;
  std::filesystem::create_directories(dir / "theirs");
  std::filesystem::create_directories(dir / "precious");
  std::filesystem::create_directory_symlink(dir / "precious", dir / "link");
  for (const char* name : {"theirs", "link"})
    REQUIRE(lchown((dir / name).c_str(), 61234, 61234) == 0);
  Host host;
  host.timefiles.record(dir / "theirs/time", 42);
  host.timefiles.record(dir / "link/time", 42);
  CHECK(host.logs("theirs/time.0 is in "));
  CHECK(host.logs("link/time.0 is reached by the link "));
  CHECK(std::filesystem::is_empty(dir / "precious"));
  CHECK(std::filesystem::is_empty(dir / "theirs"));
}

}  // namespace timefiles_test
