#include "process/host_limits.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;

namespace host_limits_test {
namespace {

/// Restores the descriptor limit of this process at the end.
class LimitKept {
 public:
  LimitKept() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~LimitKept() { setrlimit(RLIMIT_NOFILE, &before_); }
  LimitKept(const LimitKept&) = delete;
  LimitKept& operator=(const LimitKept&) = delete;
  [[nodiscard]] rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("the lowest limit of all parent groups counts, for both cgroup versions") {
  const TempDir directory;
  for (const char* part : {"/two", "/two/a", "/two/a/b", "/one", "/one/c"})
    mkdir((directory.path() + part).c_str(), 0755);
  const process::CgroupPlace place = {
      directory.file("mountinfo", "30 1 0:1 / " + directory.path() +
                                      "/two rw - cgroup2 cgroup2 rw\n31 1 0:2 / " +
                                      directory.path() +
                                      "/one rw shared:1 - cgroup cgroup rw,pids\n"),
      directory.file("cgroup", "3:cpu,pids:/c\n0::/a/b\n")};
  directory.file("two/a/b/pids.max", "max\n");
  directory.file("one/c/pids.max", "500\n");
  auto limits = process::host_limits(place);
  REQUIRE(limits.group);
  CHECK(limits.group->most == 500);
  CHECK(limits.group->path == directory.path() + "/one/c");
  directory.file("two/a/pids.max", "70\n");
  limits = process::host_limits(place);
  CHECK(limits.group->most == 70);
  CHECK(limits.group->path == directory.path() + "/two/a");
  CHECK(limits.kernel);
}

TEST_CASE("the descriptor limit of w8yd is raised, and children get the original limit") {
  const LimitKept kept;
  REQUIRE(kept.hard() >= 1100);
  const rlimit low{1024, kept.hard()};
  setrlimit(RLIMIT_NOFILE, &low);
  process::raise_descriptor_limit();
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == std::min<rlim_t>(kept.hard(), 1 << 20));
  CHECK(process::host_limits().descriptors);
  CHECK(run(sh("ulimit -Sn")).out == "1024\n");
  auto options = sh("ulimit -Sn");
  options.spawn.rlimits = {{"nofile", RLIMIT_NOFILE, 99}};
  CHECK(run(std::move(options)).out == "99\n");
}

}  // namespace host_limits_test
