#include "core/limit_check.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;

namespace limit_shortfalls_test {
namespace {

using Lines = std::vector<std::string>;

SupervisorSettings supervisor(unsigned host_concurrency = 0) {
  SupervisorSettings settings;
  settings.status = {"unix:/x"};
  settings.host_concurrency = host_concurrency;
  return settings;
}

ListConfigPtr as_user(const std::string& prefix, unsigned concurrency, const std::string& user) {
  ListConfig rule = rule_for(prefix, concurrency);
  rule.child.edit().run_as.user = user;
  return share(rule);
}

}  // namespace

TEST_CASE("descriptors: the check counts those of each process and those of w8yd") {
  HostLimits limits;
  limits.descriptors = 1024;
  const std::vector<ListNeed> lists = {{share(rule_for("a", 100))}, {share(rule_for("b", 50))}};
  CHECK(shortfalls(lists, supervisor(), limits) ==
        Lines{"descriptors: 150 processes at once need 1029 (6 each, 129 for w8yd itself), but the "
              "limit of w8yd is 1024 (ulimit -Hn, LimitNOFILE=)"});
  CHECK(shortfalls(lists, supervisor(149), limits).empty());
  limits.descriptors = 1029;
  CHECK(shortfalls(lists, supervisor(), limits).empty());
  CHECK(shortfalls(lists, supervisor(), {}).empty());

  ListConfig rule = rule_for("c", 2);
  rule.child.edit().memory_max = 1 << 20;
  limits.descriptors = 142;
  CHECK(shortfalls({{share(rule)}}, supervisor(), limits) ==
        Lines{"descriptors: 2 processes at once need 143 (6 each, 7 with memory_max, 129 for w8yd "
              "itself), but the limit of w8yd is 142 (ulimit -Hn, LimitNOFILE=)"});
}

TEST_CASE("a process of a stream executor is counted once for all its runs") {
  HostLimits limits;
  limits.descriptors = 1024;
  ListConfig rule = rule_for("a", 10'000);
  CHECK(shortfalls({{share(rule), true}}, supervisor(), limits).empty());
  rule.processes = 150;
  const ListConfigPtr idle = share(rule);
  CHECK(shortfalls({{idle, true}}, supervisor(150), limits) ==
        Lines{"descriptors: 150 processes at once need 1029 (6 each, 129 for w8yd itself), but the "
              "limit of w8yd is 1024 (ulimit -Hn, LimitNOFILE=)"});
  // Stream processes remain while they are idle, so that `host_concurrency` does not limit their
  // sum.
  CHECK(shortfalls({{idle, true}, {idle, true}}, supervisor(75), limits).size() == 1);
  CHECK(shortfalls({{idle, true}, {share(rule_for("b", 10'000))}}, supervisor(74), limits).empty());
  rule.concurrency = 149;
  CHECK(shortfalls({{share(rule), true}}, supervisor(), limits).empty());
}

TEST_CASE("a disabled list needs nothing from the limits") {
  ListConfig off = rule_for("off", 1000);
  off.enabled = false;
  HostLimits limits;
  limits.descriptors = 1024;
  CHECK(shortfalls({{share(off)}}, supervisor(), limits).empty());
}

TEST_CASE("processes are counted per user, and root has no limit") {
  HostLimits limits;
  limits.processes = 100;
  const std::vector<ListNeed> lists = {{share(rule_for("ours", 100))},
                                       {as_user("a", 60, "nobody")},
                                       {as_user("b", 40, "nobody")},
                                       {as_user("c", 99, "www")}};
  const std::string end = " is 100 (ulimit -u, LimitNPROC=, rlimits.nproc)";
  const std::string nobody =
      "processes: up to 100 at once as user nobody, not counting their children; the limit of that "
      "user" +
      end;
  CHECK(shortfalls(lists, supervisor(), limits) ==
        Lines{"processes: up to 100 at once, not counting their children; the limit of the user of "
              "w8yd" +
                  end,
              nobody});
  limits.exempt = true;
  CHECK(shortfalls(lists, supervisor(), limits) == Lines{nobody});
  CHECK(shortfalls(lists, supervisor(99), limits).empty());
}

TEST_CASE("the nproc limit of a list replaces that of the host") {
  HostLimits limits;
  limits.processes = 10;
  limits.exempt = true;
  ListConfig rule = *as_user("a", 20, "nobody");
  rule.child.edit().rlimits = {{"nproc", 6, 50}};
  CHECK(shortfalls({{share(rule)}}, supervisor(), limits).empty());
  rule.child.edit().rlimits = {{"nproc", 6, std::nullopt}};
  CHECK(shortfalls({{share(rule)}}, supervisor(), limits).empty());
  rule.child.edit().rlimits = {{"nproc", 6, 20}};
  CHECK(shortfalls({{share(rule)}}, supervisor(), limits).size() == 1);
}

TEST_CASE("limits of the control group and of the kernel are checked") {
  HostLimits limits;
  limits.group = HostLimits::Group{"/sys/fs/cgroup/x", 8};
  limits.kernel = 8;
  CHECK(
      shortfalls({{share(rule_for("a", 8))}}, supervisor(), limits) ==
      Lines{"processes: up to 8 at once, not counting their children; the limit of the control "
            "group /sys/fs/cgroup/x is 8 (pids.max, TasksMax=)",
            "processes: up to 8 at once, not counting their children; the limit of the kernel is 8 "
            "(kernel.pid_max, kernel.threads-max)"});
  CHECK(shortfalls({{share(rule_for("a", 7))}}, supervisor(), limits).empty());
}

}  // namespace limit_shortfalls_test
