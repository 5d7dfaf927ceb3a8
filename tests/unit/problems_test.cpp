#include "view/problems.hpp"

#include <doctest/doctest.h>

using namespace w8y;
using namespace std::chrono_literals;

namespace problems_test {
namespace {

HostStatus good_host() {
  HostStatus host;
  host.state = HostState::running;
  host.redis.connected = true;
  host.now = 10h;
  host.generation = 3;
  return host;
}

ListStatus list_of(const std::string& prefix, ListState state = ListState::idle,
                   const std::string& why = "") {
  ListStatus list;
  list.prefix = prefix;
  list.state = state;
  list.why = why;
  return list;
}

std::vector<std::string> told(const HostStatus& host, const std::vector<ListStatus>& lists) {
  Problems problems(host);
  for (const auto& list : lists) problems.add(list);
  std::vector<std::string> texts;
  for (const auto& problem : problems.drain())
    texts.push_back(std::string(kind_name(problem.kind)) + "|" + problem.text);
  return texts;
}

HostStatus host_without_redis() {
  HostStatus host = good_host();
  host.has_redis = false;
  return host;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a host without problems reports none") {
  CHECK(told(good_host(), {list_of("a"), list_of("b", ListState::running),
                           list_of("c", ListState::disabled, "enabled = false")})
            .empty());
}

TEST_CASE("jobs with an invalid schedule and jobs that have died are problems") {
  ListStatus mix = list_of("mix");
  mix.stats.emplace();
  mix.stats->items = {{"queued", 3}, {"due", 0}, {"bad", 0}, {"died", 0}};
  CHECK(told(good_host(), {mix}).empty());
  mix.stats->items = {{"queued", 3}, {"due", 0}, {"bad", 1}, {"died", 2}};
  CHECK(told(good_host(), {mix}) ==
        Texts{"invalid|1 job has an invalid schedule (status BAD) in mix; set a valid one with "
              "\"w8yctl schedule -k KEY_PREFIX set\"",
              "died|2 jobs have failed for good (status DIE) in mix; set the schedule again with "
              "\"w8yctl schedule -k KEY_PREFIX set\""});
  ListStatus cron = mix;
  cron.prefix = "cron";
  cron.stats->items = {{"bad", 4}};
  CHECK(told(good_host(), {mix, cron})[0] ==
        "invalid|5 jobs have an invalid schedule (status BAD): 1 in mix and 4 in cron; set a valid "
        "one with \"w8yctl schedule -k KEY_PREFIX set\"");
}

TEST_CASE("a list whose items wait longer than its overdue_after is overdue") {
  ListStatus list = list_of("a", ListState::running);
  list.overdue_after = 10min;
  CHECK(told(good_host(), {list}).empty());  // no statistics yet
  list.stats.emplace();
  list.stats->cycle = 10min;
  list.stats->longest_wait = 10min;
  list.stats->slots = 8;
  list.stats->slots_needed = 12;
  CHECK(told(good_host(), {list}).empty());
  list.stats->cycle = 12min;
  CHECK(told(good_host(), {list}) ==
        Texts{"overdue|items of a are overdue: a cycle takes 12m; overdue_after "
              "is 10m; needs 12 slots, has 8"});
  list.stats->longest_wait = 1h;
  list.stats->slots.reset();
  CHECK(told(good_host(), {list}) ==
        Texts{"overdue|items of a are overdue: a cycle takes 12m, and an item has "
              "waited for 1h; overdue_after is 10m"});
  list.stats->cycle.reset();
  CHECK(told(good_host(), {list}) ==
        Texts{"overdue|items of a are overdue: an item has waited for 1h; "
              "overdue_after is 10m"});
  list.overdue_after = 0s;
  CHECK(told(good_host(), {list}).empty());
}

TEST_CASE("an open breaker is a problem with its duration and reason") {
  ListStatus feeds = list_of("feeds", ListState::breaker_open);
  feeds.breaker = OpenBreaker{good_host().now - 4min, {}, "19 of 20 runs failed: HTTP 503"};
  CHECK(told(good_host(), {feeds}) ==
        Texts{"breaker_open|feeds: breaker open for 4m: 19 of 20 runs failed: HTTP 503"});
  // Redis was not queried.
  CHECK(told(good_host(), {list_of("feeds", ListState::breaker_open, "19 of 20 runs failed")}) ==
        Texts{"breaker_open|feeds: breaker open: 19 of 20 runs failed"});
}

TEST_CASE("an outage of Redis is one problem for all waiting lists") {
  HostStatus host = good_host();
  host.redis.connected = false;
  host.redis.error = "cannot connect: Connection refused";
  std::vector<ListStatus> lists;
  for (int i = 0; i < 300; ++i)
    lists.push_back(list_of("l" + std::to_string(i),
                            i % 2 == 0 ? ListState::unavailable : ListState::idle, "away"));
  lists.push_back(list_of("none", ListState::disabled));
  CHECK(told(host, lists) ==
        Texts{"redis|Redis unavailable: cannot connect: Connection refused; 300 lists wait"});
  host.redis.connected = true;  // connected, but to a replica for example
  CHECK(told(host, {}) == Texts{"redis|Redis unavailable: cannot connect: Connection refused"});
}

TEST_CASE(
    "a list that this host cannot serve is a problem only without Redis, and so without a fleet") {
  const ListStatus list = list_of("a", ListState::ineligible, "not found");
  CHECK(told(good_host(), {list}).empty());
  CHECK(told(host_without_redis(), {list}) ==
        Texts{"ineligible|host is ineligible for a: not found"});
}

TEST_CASE("lists with one cause are one problem") {
  std::vector<ListStatus> lists;
  for (const char* name : {"a", "b", "c", "d e"})
    lists.push_back(list_of(name, ListState::ineligible, "/opt/x: not found"));
  lists.push_back(list_of("f", ListState::ineligible, "lacks \"gpu\""));
  CHECK(told(host_without_redis(), lists) ==
        Texts{"ineligible|host is ineligible for a, b, c and 1 more: /opt/x: not found",
              "ineligible|host is ineligible for f: lacks \"gpu\""});
  lists.resize(2);
  CHECK(told(host_without_redis(), lists) ==
        Texts{"ineligible|host is ineligible for a and b: /opt/x: not found"});
}

TEST_CASE("a write error is one problem for all lists with the same error") {
  std::vector<ListStatus> lists;
  for (int i = 0; i < 30; ++i) {
    lists.push_back(list_of("l" + std::to_string(i), ListState::running));
    lists.back().unwritten = "LPUSH: no permissions";
  }
  CHECK(told(good_host(), lists) ==
        Texts{"write_error|Redis refuses part of the run records of l0, l1, l2 and 27 more: "
              "LPUSH: no permissions"});
  HostStatus away = good_host();
  away.redis.connected = false;
  CHECK(told(away, {lists[0]}).size() == 1);  // the outage is the problem
}

TEST_CASE("stalled jobs are a problem") {
  ListStatus list = list_of("encode");
  list.stats.emplace();
  list.stats->items = {{"queued", 3}, {"stalled", 2}};
  CHECK(told(good_host(), {list}) ==
        Texts{"stalled|2 jobs are stalled in encode; run them again with \"w8yctl job retry\""});
}

TEST_CASE("quarantined items are counted over all lists") {
  ListStatus one = list_of("work");
  one.quarantined = 1;
  CHECK(told(good_host(), {one}) == Texts{"quarantined|1 item is quarantined in work"});
  ListStatus many = list_of("films");
  many.quarantined = 10;
  ListStatus none = list_of("none");
  none.quarantined = 0;
  CHECK(told(good_host(), {one, many, none}) ==
        Texts{"quarantined|11 items are quarantined: 1 in work and 10 in films"});
}

TEST_CASE("recent failures are a problem that names the last error") {
  ListStatus work = list_of("work", ListState::running);
  work.last_error = "exit status 1";
  work.last_error_at = 10h - 5s;
  work.recent_runs = 29;
  work.recent_failed = 3;
  CHECK(told(good_host(), {work}) == Texts{"failing|3 of 29 runs of work on this host failed "
                                           "within the last hour, the last one 5s ago: exit "
                                           "status 1"});
  work.recent_runs = 30;  // exactly alert_failures
  CHECK(told(good_host(), {work}).empty());
  work.alert_failures = 0;
  ListStatus old = work;
  old.last_error_at = std::chrono::duration_cast<WallTime>(10h - Problems::fresh - 1s);
  CHECK(told(good_host(), {old}).empty());
}

TEST_CASE(
    "a pause is a problem with its reason, operator and duration, even while runs are active") {
  ListStatus work = list_of("work", ListState::paused);
  work.running = 1;
  work.pause = Pause{"new disks", "jo on web1", 9h, 11h};
  CHECK(told(good_host(), {work}) ==
        Texts{"paused|work is paused: new disks, by jo on web1, for 1h, 1h left"});
}

TEST_CASE("problems are sorted by severity, and include those of the host itself") {
  HostStatus host = good_host();
  host.state = HostState::quiet;
  host.last_reload_failed = true;
  host.last_reload = "failed: the config has errors; nothing was changed";
  ListStatus quarantined = list_of("parked");
  quarantined.quarantined = 2;
  CHECK(told(host, {quarantined, list_of("y", ListState::unavailable, "NOPERM no"),
                    list_of("z", ListState::starved, "no more processes")}) ==
        Texts{"unavailable|Redis refuses claims from y: NOPERM no",
              "starved|host is short of resources for z: no more processes",
              "quarantined|2 items are quarantined in parked",
              "config_outdated|the config file is not in force, since the last reload failed: the "
              "config "
              "has errors; nothing was changed; generation 3 stays in force",
              "quiet|host is quiet: starting no new runs until w8yctl resume"});
}

TEST_CASE("10,000 causes are limited to a maximum number of problems") {
  Problems problems(host_without_redis());
  for (int i = 0; i < 10'000; ++i)
    problems.add(list_of("l" + std::to_string(i), ListState::ineligible, std::to_string(i)));
  const auto all = problems.drain();
  REQUIRE(all.size() == Problems::max_causes + 1);
  CHECK(all.back().text == "9980 more lists are ineligible, for 9980 other reasons");
  CHECK(all.back().lists == 9980);
}

TEST_CASE("problems of one kind are limited, and one more has the number of the others") {
  std::vector<Problem> all(Problems::max_causes + 5);
  for (Problem& problem : all) problem.kind = Problem::Kind::quiet;
  all.back().kind = Problem::Kind::draining;
  limit_per_kind(all);
  REQUIRE(all.size() == Problems::max_causes + 2);
  CHECK(all[Problems::max_causes].kind == Problem::Kind::draining);
  CHECK(all.back().text == "4 more problems of the fleet: quiet");
}

}  // namespace problems_test
