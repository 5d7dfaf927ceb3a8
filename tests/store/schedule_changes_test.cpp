// Changes of a schedule by an operator, and dispatch.
#include "operator/schedule_changes.hpp"

#include <doctest/doctest.h>

#include <set>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/url.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

namespace schedule_changes_test {
namespace {

redis::ClientOptions options_of(const RedisServer& server) {
  redis::ClientOptions options;
  options.url = redis::parse_url(server.url());
  return options;
}

struct Fixture {
  Fixture() : client(loop, options_of(server)), changes(client, ScheduleKeys("bike")) {}

  std::string ask(const std::vector<std::string>& words) const { return server.command(words); }
  std::string event(const Job& job) const {
    return ask({"HGET", "bike-statuses", job}).substr(0, 3);
  }
  std::string error_of_set(const SetJob& change) {
    try {
      changes.set({change});
    } catch (const redis::RedisError& error) {
      return error.what();
    }
    return {};
  }
  DispatchReply dispatch() { return changes.dispatch({}); }

  RedisServer server;
  loop::Loop loop;
  redis::SyncClient client;
  ScheduleChanges changes;
};

}  // namespace

TEST_CASE("the code of a job is the part after the last ':', or the whole job") {
  CHECK(code_of("a:b:c") == "c");
  CHECK(code_of("abc") == "abc");
  CHECK(code_of(":") == "");
  CHECK(code_of("") == "");
  CHECK(code_of(std::string_view("x\0:y", 4)) == "y");
  const ScheduleKeys keys("bike");
  CHECK(keys.working("x:A") == "bike-work-A-x:A");
  CHECK(keys.members("A") == "bike-work-A-members");
  CHECK(keys.paused == "bike:paused");
  CHECK(ScheduleKeys("").paused == "paused");
}

TEST_CASE("codes are refused if their keys would clash with other keys") {
  for (const char* code : {"members", "A-members", "-members", "A-A", "-", "a-b-a-b"})
    CHECK(!code_error(code).empty());
  for (const char* code : {"", "A", "members-A", "A-B", "xmembers", "aa-a", "A-AA"})
    CHECK(code_error(code) == "");
}

TEST_CASE("only a status with a code and a time in seconds is valid") {
  CHECK(read_status("x", "TML:12")->event == "TML");
  CHECK(read_status("x", "TML:12")->time == 12);
  for (const char* text : {"", "TML", "TML:", "TML:x", "TML:1x", "TML:1.5"})
    CHECK(!read_status("x", text));
}

TEST_CASE("set enqueues, schedules or stops a job, or marks it as bad") {
  Fixture at;
  const UnixSeconds now = at.changes.now();
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}},
                  {"b:A", "STOP", RunAt{now + 100}},
                  {"c:A", "STOP", StopJob{}},
                  {"d:A", "nonsense", BadJob{}}});
  CHECK(at.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "a:A");
  CHECK(at.ask({"SMEMBERS", "bike-work-A-members"}) == "a:A");
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1", "WITHSCORES"}) ==
        "b:A\n" + std::to_string(now + 100));
  CHECK(at.event("a:A") == "ENQ");
  CHECK(at.event("b:A") == "TML");
  CHECK(at.event("c:A") == "STP");
  CHECK(at.event("d:A") == "BAD");
  CHECK(at.ask({"HGET", "bike-schedules", "d:A"}) == "nonsense");
  const UnixSeconds since = read_status("", at.ask({"HGET", "bike-statuses", "a:A"}))->time;
  CHECK(since >= now);
  CHECK(since <= now + 5);
}

TEST_CASE("an invalid schedule replaces no valid one, not even one that is set meanwhile") {
  Fixture at;
  const auto set_bad = [&at](const Job& job, const ScheduleChanges::IsValid& is_valid) {
    return at.changes.set_keeping_valid({{job, "FREQ=DALY", BadJob{}}}, is_valid);
  };
  const auto is_stop = [](const std::string& schedule) { return schedule == "STOP"; };
  const auto none_is = [](const std::string&) { return false; };
  using Kept = std::vector<std::size_t>;
  CHECK(set_bad("new:A", none_is) == Kept{});
  CHECK(at.event("new:A") == "BAD");
  at.changes.set({{"old:A", "STOP", StopJob{}}});
  CHECK(set_bad("old:A", is_stop) == Kept{0});
  CHECK(at.event("old:A") == "STP");
  CHECK(at.ask({"HGET", "bike-schedules", "old:A"}) == "STOP");
  // While the stored schedule is checked, another operator sets a valid one.
  at.changes.set({{"raced:A", "FREQ=WEKLY", BadJob{}}});
  int judged = 0;
  const auto racing = [&](const std::string& schedule) {
    if (++judged == 1) at.changes.set({{"raced:A", "STOP", RunAt{4095247510}}});
    return is_stop(schedule);
  };
  CHECK(set_bad("raced:A", racing) == Kept{0});
  CHECK(judged == 1);
  CHECK(at.ask({"HGET", "bike-schedules", "raced:A"}) == "STOP");
  CHECK(at.event("raced:A") == "TML");
  CHECK(at.ask({"ZSCORE", "bike-timeline", "raced:A"}) == "4095247510");
  // The same, but the other operator sets CONTINUE. The status stays BAD, since the job is queued.
  at.changes.set({{"queued:A", "CONTINUE", Enqueue{}}, {"queued:A", "FREQ=WEKLY", BadJob{}}});
  judged = 0;
  CHECK(set_bad("queued:A", [&](const std::string& schedule) {
          if (++judged == 1) at.changes.set({{"queued:A", "CONTINUE", Enqueue{}}});
          return schedule == "CONTINUE";
        }) == Kept{0});
  CHECK(judged == 2);
  CHECK(at.event("queued:A") == "BAD");
  CHECK(at.ask({"HGET", "bike-schedules", "queued:A"}) == "CONTINUE");
  // Each of several jobs is handled separately.
  CHECK(at.changes.set_keeping_valid({{"x:A", "no", BadJob{}},
                                      {"old:A", "no", BadJob{}},
                                      {"new:A", "no", BadJob{}},
                                      {"y:A", "STOP", StopJob{}}},
                                     is_stop) == Kept{1});
  CHECK(at.ask({"HMGET", "bike-schedules", "x:A", "old:A", "new:A", "y:A"}) ==
        "no\nSTOP\nno\nSTOP");
  // A job on the timeline is not checked: its client may support more rules than w8y.
  at.ask({"HSET", "bike-schedules", "theirs:A", "FREQ=YEARLY;BYEASTER=0"});
  at.ask({"HSET", "bike-statuses", "theirs:A", "TML:5"});
  CHECK(set_bad("theirs:A", none_is) == Kept{0});
  CHECK(at.event("theirs:A") == "TML");
}

TEST_CASE("a job that is queued or running is not enqueued again and keeps its status") {
  Fixture at;
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}}});
  at.ask({"HSET", "bike-statuses", "a:A", "ENQ:5"});
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}}});
  CHECK(at.ask({"LLEN", "bike-work-A"}) == "1");
  CHECK(at.ask({"HGET", "bike-statuses", "a:A"}) == "ENQ:5");

  at.ask({"RPOP", "bike-work-A"});
  at.ask({"SREM", "bike-work-A-members", "a:A"});
  at.ask({"SET", "bike-work-A-a:A", "tag"});
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}}});
  CHECK(at.ask({"LLEN", "bike-work-A"}) == "0");
  CHECK(at.ask({"HGET", "bike-statuses", "a:A"}) == "ENQ:5");
}

TEST_CASE("a job that is only in the set of its queue can be enqueued") {
  Fixture at;
  at.ask({"SADD", "bike-work-A-members", "a:A"});
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}}});
  CHECK(at.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "a:A");
}

TEST_CASE("set does not enqueue jobs again if many are queued already") {
  Fixture at;
  std::vector<SetJob> changes;
  for (int i = 0; i < 100; ++i)
    changes.push_back({"j" + std::to_string(i) + ":A", "CONTINUE", Enqueue{}});
  at.changes.set(changes);
  changes.push_back({"more:A", "CONTINUE", Enqueue{}});
  changes.push_back({"more:A", "CONTINUE", Enqueue{}});
  at.changes.set(changes);
  CHECK(at.ask({"LLEN", "bike-work-A"}) == "101");
}

TEST_CASE("unset deletes all keys of a job and returns whether the job existed") {
  Fixture at;
  at.changes.set({{"a:A", "CONTINUE", Enqueue{}}, {"b:A", "STOP", RunAt{7}}});
  at.ask({"HSET", "bike:failures", "a:A", "3"});
  CHECK(at.changes.unset("a:A"));
  CHECK(at.changes.unset("b:A"));
  CHECK(!at.changes.unset("a:A"));
  CHECK(at.ask({"KEYS", "*"}) == "");
}

TEST_CASE("the view of a job has status, schedule, next run and whether the job is running") {
  Fixture at;
  JobView view = at.changes.view("no:A");
  CHECK(!view.status);
  CHECK(!view.schedule);
  CHECK(!view.next_run);
  CHECK(!view.working);
  at.changes.set({{"b:A", "STOP", RunAt{1381720578}}});
  at.ask({"SET", "bike-work-A-b:A", "tag"});
  view = at.changes.view("b:A");
  CHECK(view.status->starts_with("TML:"));
  CHECK(view.schedule == "STOP");
  CHECK(view.next_run == 1381720578.0);
  CHECK(view.working);
}

TEST_CASE("a job with a jitter is due later than scheduled, by less than the jitter") {
  Fixture at;
  constexpr UnixSeconds day = 86400;
  std::vector<SetJob> changes;
  for (int i = 0; i < 200; ++i)
    changes.push_back({std::to_string(i) + ":A", "FREQ=DAILY", RunAt{20000 * day + i % 2 * day},
                       std::chrono::minutes(5)});
  changes.push_back({"none:A", "FREQ=DAILY", RunAt{20000 * day}});
  at.changes.set(changes);
  std::set<UnixSeconds> delays;
  for (const auto& [job, score] : at.changes.timeline()) {
    const auto delay = static_cast<UnixSeconds>(score) % day;
    CHECK(score == static_cast<double>(static_cast<UnixSeconds>(score)));
    CHECK(delay >= 0);
    CHECK(delay < 300);
    delays.insert(delay);
    if (job == "none:A") CHECK(delay == 0);
  }
  CHECK(delays.size() > 80);  // spread
  const std::string before = at.ask({"ZRANGE", "bike-timeline", "0", "-1", "WITHSCORES"});
  at.changes.set(changes);
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1", "WITHSCORES"}) == before);
  CHECK(at.ask({"HGET", "bike:jitter", "0:A"}) == "300000");
  CHECK(at.ask({"HEXISTS", "bike:jitter", "none:A"}) == "0");
}

TEST_CASE("a job that is set without a jitter, or unset, has none") {
  Fixture at;
  const SetJob with{"x:A", "FREQ=DAILY", RunAt{100}, std::chrono::minutes(5)};
  at.changes.set({with});
  at.changes.set({{"x:A", "FREQ=DAILY", RunAt{100}}});
  CHECK(at.ask({"EXISTS", "bike:jitter"}) == "0");
  CHECK(at.changes.view("x:A").next_run == 100.0);
  at.changes.set({with});
  CHECK(at.changes.unset("x:A"));
  CHECK(at.ask({"EXISTS", "bike:jitter"}) == "0");
  // Another client may have written anything.
  for (const char* jitter : {"", "nan", "inf", "-5000", "1e300", "soon"}) {
    at.ask({"HSET", "bike:jitter", "y:A", jitter});
    at.changes.set({{"y:A", "FREQ=DAILY", RunAt{100}}});
    CHECK(at.changes.view("y:A").next_run == 100.0);
  }
}

TEST_CASE("dispatch moves due jobs to their queues, oldest first, and no other jobs") {
  Fixture at;
  const UnixSeconds now = at.changes.now();
  at.changes.set({{"late:A", "STOP", RunAt{now - 10}},
                  {"later:A", "STOP", RunAt{now - 20}},
                  {"other:B", "STOP", RunAt{now - 15}},
                  {"next:A", "STOP", RunAt{now + 1000}}});
  const DispatchReply reply = at.dispatch();
  CHECK(reply.taken_off == 3);
  CHECK(reply.enqueued == 3);
  CHECK(!reply.more);
  CHECK(reply.late.size() == 3);
  CHECK(reply.late[0] >= std::chrono::seconds(20));
  CHECK(reply.next_due <= std::chrono::seconds(1000));
  CHECK(reply.next_due > std::chrono::seconds(990));
  CHECK(at.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "late:A\nlater:A");
  CHECK(at.ask({"LRANGE", "bike-work-B", "0", "-1"}) == "other:B");
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1"}) == "next:A");
  CHECK(at.event("late:A") == "ENQ");
}

TEST_CASE("one call of dispatch moves at most 256 jobs and reports whether more are due") {
  Fixture at;
  std::vector<SetJob> changes;
  for (int i = 0; i < 300; ++i) changes.push_back({std::to_string(i) + ":A", "STOP", RunAt{i}});
  at.changes.set(changes);
  DispatchReply reply = at.dispatch();
  CHECK(reply.taken_off == 256);
  CHECK(reply.more);
  reply = at.dispatch();
  CHECK(reply.taken_off == 44);
  CHECK(!reply.more);
  CHECK(!reply.next_due);
  CHECK(at.ask({"LINDEX", "bike-work-A", "-1"}) == "0:A");
  CHECK(at.ask({"LINDEX", "bike-work-A", "0"}) == "299:A");
}

TEST_CASE("dispatch with an explicit time moves the jobs that are due at that time") {
  Fixture at;
  at.changes.set({{"a:A", "STOP", RunAt{100}}, {"b:A", "STOP", RunAt{101}}});
  CHECK(at.changes.dispatch({100, false}).taken_off == 1);
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1"}) == "b:A");
}

TEST_CASE("HALT stops dispatch, except a dispatch that ignores it, until resume") {
  Fixture at;
  at.changes.set({{"a:A", "STOP", RunAt{100}}});
  at.changes.halt("alice on web1");
  CHECK(at.ask({"GET", "bike-control"}) == "HALT");
  CHECK(at.ask({"GET", "bike:halted"}) == "alice on web1");
  CHECK(at.dispatch().halted);
  CHECK(at.ask({"ZCARD", "bike-timeline"}) == "1");
  CHECK(at.changes.dispatch({std::nullopt, true}).taken_off == 1);
  CHECK(at.changes.resume());
  CHECK(!at.changes.resume());
  CHECK(at.ask({"EXISTS", "bike-control", "bike:halted"}) == "0");
  CHECK(!at.dispatch().halted);
}

TEST_CASE("dispatch deletes the name of the operator when another client has ended HALT") {
  Fixture at;
  at.changes.halt("alice on web1");
  at.ask({"DEL", "bike-control"});  // as Redbike does
  at.dispatch();
  CHECK(at.ask({"EXISTS", "bike:halted"}) == "0");
}

TEST_CASE("times that are infinite, negative or fractional lose no job") {
  Fixture at;
  at.ask({"ZADD", "bike-timeline", "-inf", "first:A", "inf", "never:A", "-7", "past:A", "1.5",
          "half:A", "1e300", "far:A"});
  const DispatchReply reply = at.dispatch();
  CHECK(reply.taken_off == 3);
  CHECK(!reply.more);
  REQUIRE(reply.next_due);
  CHECK(*reply.next_due > std::chrono::hours(24));
  CHECK(at.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "half:A\npast:A\nfirst:A");
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1"}) == "far:A\nnever:A");
}

TEST_CASE("a job with a fractional time is due at the next full second") {
  Fixture at;
  at.ask({"ZADD", "bike-timeline", "1000.5", "a:A"});
  CHECK(at.changes.dispatch({1000, false}).taken_off == 0);
  CHECK(at.changes.dispatch({1001, false}).taken_off == 1);
}

TEST_CASE("a job that cannot be enqueued is refused, is not lost and does not delay other jobs") {
  Fixture at;
  at.ask({"SET", "bike-work-X", "a string"});
  at.ask({"ZADD", "bike-timeline", "1", "a:X", "2", "b:A-members", "3", "c:A"});
  const DispatchReply reply = at.dispatch();
  CHECK(reply.taken_off == 3);
  CHECK(reply.enqueued == 1);
  CHECK(reply.refused == 2);
  CHECK(reply.first_refused == "a:X");
  CHECK(reply.why.find("bike-work-X is a string, not a list; rename or delete it") !=
        std::string::npos);
  CHECK(!reply.more);
  CHECK(*reply.next_due > std::chrono::seconds(50));
  CHECK(at.ask({"ZRANGE", "bike-timeline", "0", "-1"}) == "a:X");
  CHECK(at.event("b:A-members") == "BAD");
  CHECK(at.event("c:A") == "ENQ");
  CHECK(at.ask({"EXISTS", "bike-work-A-members"}) == "1");  // the set of queue A
  CHECK(at.ask({"TYPE", "bike-work-A-members"}) == "set");
}

TEST_CASE("an error names the key of a wrong type, and no key is changed") {
  for (const std::string key :
       {"bike-schedules", "bike-statuses", "bike-timeline", "bike-work-A", "bike-work-A-members"}) {
    CAPTURE(key);
    Fixture at;
    at.ask({"SET", key, "a string"});
    const std::string error = at.error_of_set({"a:A", "CONTINUE", Enqueue{}});
    CHECK(error.find("the key " + key + " is a string, not a ") != std::string::npos);
    CHECK(at.ask({"KEYS", "*"}) == key);
    CHECK_THROWS_AS(at.changes.unset("a:A"), redis::RedisError);
  }
  Fixture at;
  at.ask({"RPUSH", "bike-control", "x"});
  CHECK_THROWS_AS(at.dispatch(), redis::RedisError);
}

TEST_CASE("jobs and schedules are bytes of any length") {
  Fixture at;
  const std::vector<Job> jobs = {"",           ":",
                                 " ",          std::string("nul\0:A", 6),
                                 "new\nline:", std::string(65536, 'x'),
                                 "\xff\xfe:A", std::string(65536, ':') + "A"};
  const std::string long_schedule(1 << 20, 's');
  for (const Job& job : jobs) at.changes.set({{job, long_schedule, RunAt{1}}});
  CHECK(at.dispatch().enqueued == jobs.size());
  for (const Job& job : jobs) CHECK(at.event(job) == "ENQ");
  CHECK(at.changes.schedules().size() == jobs.size());
  CHECK(at.changes.view(jobs[3]).schedule == long_schedule);
  for (const Job& job : jobs) CHECK(at.changes.unset(job));
  CHECK(at.ask({"KEYS", "*"}) == "");
}

TEST_CASE("more schedules than one reply can carry are read in parts") {
  Fixture at;
  // 130 MiB. A reply has at most 128 MiB.
  at.ask({"EVAL",
          "for i = 1, 520 do redis.call('HSET', KEYS[1], 'j' .. i, string.rep('x', 262144)) end",
          "1", "bike-schedules"});
  CHECK(at.changes.schedules().size() == 520);
}

TEST_CASE("the wake channel reports an earlier next job, and the queues that have new jobs") {
  Fixture at;
  std::vector<std::string> heard;
  redis::Subscriber subscriber(at.loop, options_of(at.server));
  bool confirmed = false;
  const auto subscription = subscriber.subscribe(
      at.changes.keys().wake,
      [&](std::string_view, std::string_view text) { heard.emplace_back(text); },
      [&] { confirmed = true; });
  CHECK(turn_until(at.loop, [&] { return confirmed; }));
  at.changes.set({{"a:A", "STOP", RunAt{5000000000}}});
  at.changes.set({{"b:A", "STOP", RunAt{6000000000}}});
  at.changes.set({{"c:A", "CONTINUE", Enqueue{}}, {"d:B", "CONTINUE", Enqueue{}}});
  at.changes.halt("me");
  CHECK(turn_until(at.loop, [&] { return heard.size() == 3; }));
  CHECK(heard == std::vector<std::string>{"timeline", "queued\nA\nB", "control"});
}

}  // namespace schedule_changes_test
