// Real config host, on files in a temporary directory.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/config.hpp"
#include "support/temp_dir.hpp"

using namespace w8y;
using w8y::test::TempDir;
using Lines = std::vector<std::string>;

namespace host_test {
namespace {

/// Real host, as if the user were not root.
class PlainHost : public SystemConfigHost {
 public:
  bool is_root() override { return false; }
};

}  // namespace

TEST_CASE("the real host reads files, and returns a reason if it cannot") {
  const TempDir directory;
  PlainHost host;
  CHECK(host.read(directory.file("a", "text")).text == "text");
  CHECK(host.read(directory.file("empty", "")).problem.empty());
  CHECK(host.read(directory / "none").problem == "not found");
  CHECK(host.read(directory / ".").problem == "is a directory; must be a file");
  CHECK(host.read("/dev/null").problem == "is not a regular file; must be one");
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  CHECK(host.read(directory / "fifo").problem == "is not a regular file; must be one");
  CHECK(host.read(std::string("/a\0b", 4)).problem == "has a NUL byte in its name");

  // Sparse file: it has no data, and none is read.
  const std::string large = directory.file("large", "");
  REQUIRE(::truncate(large.c_str(), off_t{100} << 20) == 0);
  CHECK(host.read(large).problem == "is larger than 16 MiB, the limit for a config file");
  REQUIRE(::truncate(large.c_str(), off_t{16} << 20) == 0);
  CHECK(host.read(large).text.size() == std::size_t{16} << 20);
}

TEST_CASE("the real host finds files by pattern, in byte order") {
  const TempDir directory;
  PlainHost host;
  for (const char* name : {"b.toml", "a.toml", "B.toml", "c.txt"}) directory.file(name, "");
  CHECK(host.glob(directory / "*.toml") ==
        Lines{directory / "B.toml", directory / "a.toml", directory / "b.toml"});
  CHECK(host.glob(directory / "x*").empty());
}

TEST_CASE("the real host trusts files that only root can write") {
  const TempDir directory;
  SystemConfigHost host;
  const std::string file = directory.file("f", "");
  CHECK(host.missing(directory / "none") == "not found");
  CHECK(host.missing(file).empty());
  if (::geteuid() != 0) {
    CHECK(host.distrust(file).starts_with("belongs to user "));
    return;
  }
  CHECK(host.distrust(file).empty());
  CHECK(host.distrust(directory / "none").empty());
  CHECK(host.distrust(directory / "no/such/file").empty());
  for (const mode_t mode : {0620U, 0602U}) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    CHECK(host.distrust(file).starts_with("can be written by its group or others"));
    CHECK_FALSE(host.read(file).problem.empty());
  }
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  REQUIRE(::chmod(directory.path().c_str(), 0777) == 0);
  CHECK(host.distrust(file).starts_with("is in "));
  CHECK(host.distrust(directory / "no/such/file").starts_with("is in "));
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  CHECK(host.read(file).problem.empty());
  REQUIRE(::chown(file.c_str(), 12345, 0) == 0);
  CHECK(host.distrust(file).starts_with("belongs to user 12345"));
}

TEST_CASE("the real host counts the processors that it may use") {
  SystemConfigHost host;
  cpu_set_t all;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  CHECK(host.processors() >= 1);
  CHECK(host.processors() <= static_cast<unsigned>(CPU_COUNT(&all)));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(host.processors() == 1);
  REQUIRE(::sched_setaffinity(0, sizeof all, &all) == 0);
}

TEST_CASE("the real host has a name") {
  SystemConfigHost host;
  CHECK_FALSE(host.hostname().empty());
}

}  // namespace host_test
