// Disposition of a job at the end of its run, beside programs of Redbike.
#include <doctest/doctest.h>

#include <ctime>
#include <set>

#include "schedule_bike.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

TEST_CASE("the end of a run stops a job whose schedule is STOP") {
  Bike bike;
  bike.run("x:A", "STOP");
  CHECK(bike.event("x:A") == "STP");
  CHECK(bike.command({"EXISTS", "bike-work-A", "bike-timeline"}) == "0");
}

TEST_CASE("the end of a run enqueues a job whose schedule is CONTINUE, after its backoff if any") {
  Bike bike;
  bike.run("x:A", "CONTINUE");
  CHECK(bike.event("x:A") == "ENQ");
  bike.command({"DEL", "bike-work-A", "bike-work-A-members"});
  const UnixSeconds before = bike.now();
  bike.run("y:A", "CONTINUE", ActOnSchedule{30s});
  CHECK(bike.event("y:A") == "TML");
  CHECK(bike.due("y:A") >= before + 30);
  CHECK(bike.due("y:A") <= bike.now() + 30);
  // A backoff counts with CONTINUE only.
  bike.run("z:A", "STOP", ActOnSchedule{30s});
  CHECK(bike.event("z:A") == "STP");
}

TEST_CASE("the end of a run follows a rule, and marks a bad rule or stops after the last time") {
  Bike bike;
  bike.run("x:A", daily);
  CHECK(bike.event("x:A") == "TML");
  CHECK(bike.due("x:A") > bike.now());
  CHECK(bike.due("x:A") <= bike.now() + 86400);
  CHECK(bike.due("x:A") % 86400 == 16 * 3600 + 45 * 60 + 10);
  bike.run("y:A", "DTSTART:20131009T164510\nR:FREQ=Secondly");
  CHECK(bike.event("y:A") == "BAD");
  CHECK(bike.host.reported.quarantined.size() == 1);
  bike.run("z:A", "DTSTART:20131009T164510\nRRULE:FREQ=DAILY;COUNT=2");
  CHECK(bike.event("z:A") == "STP");
  CHECK(bike.command({"ZCARD", "bike-timeline"}) == "1");
}

TEST_CASE("the end of a run adds the jitter of the job to its next time") {
  Bike bike;
  std::set<UnixSeconds> delays;
  for (int i = 0; i < 20; ++i) {
    const std::string job = std::to_string(i) + ":A";
    bike.command({"HSET", "bike:jitter", job, "3600000"});
    bike.run(job, "FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    const UnixSeconds delay = bike.due(job) % 86400;
    CHECK(delay < 3600);
    delays.insert(delay);
    // Two runs for the same time have the same delay.
    const UnixSeconds due = bike.due(job);
    bike.command({"ZREM", "bike-timeline", job});
    bike.run(job, "FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    if (bike.due(job) / 86400 == due / 86400) CHECK(bike.due(job) == due);
  }
  CHECK(delays.size() > 10);
}

TEST_CASE("NOW and AT that are set during a run take effect once") {
  Bike bike;
  bike.run("x:A", "NOW");  // as another client may leave it
  CHECK(bike.command({"HGET", "bike-schedules", "x:A"}) == "STOP");
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.host.settle(bike.host.claim_one_job(), ActOnSchedule{}));
  CHECK(bike.event("x:A") == "STP");
  bike.run("y:A", "AT:5000000000");
  CHECK(bike.command({"HGET", "bike-schedules", "y:A"}) == "STOP");
  CHECK(bike.due("y:A") == 5000000000);
}

TEST_CASE("a schedule that is set or unset during a run takes precedence") {
  Bike bike;
  bike.enter("x:A", "CONTINUE");
  Claim claim = bike.host.claim_one_job();
  bike.command({"HSET", "bike-schedules", "x:A", "STOP"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "STP");

  bike.enter("x:A", "STOP");
  claim = bike.host.claim_one_job();
  bike.command({"HSET", "bike-schedules", "x:A", daily});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "TML");

  for (const JobEnd& what : std::vector<JobEnd>{ActOnSchedule{}, BackOff{5s}, BackToQueue{}}) {
    bike.command({"FLUSHALL"});
    bike.enter("y:A");
    claim = bike.host.claim_one_job();
    bike.command({"HDEL", "bike-statuses", "y:A"});
    bike.command({"HDEL", "bike-schedules", "y:A"});
    JobSettlement end = bike.host.settlement(claim, what);
    end.failures = FailureCount::increment;
    bike.host.queue->settle(std::move(end));
    CHECK(bike.host.settled());
    CHECK(bike.command({"EXISTS", "bike-statuses", "bike-schedules", "bike-timeline", "bike-work-A",
                        "bike-work-A-y:A", "bike:claims", "bike:failures"}) == "0");
  }
}

TEST_CASE("a time that is set during a run and due before its end is not lost") {
  Bike bike;
  const auto claimed_and_due = [&](const std::string& job) {
    bike.enter(job);
    Claim claim = bike.host.claim_one_job();
    bike.command({"HSET", "bike-statuses", job, "TML:1"});
    bike.command({"ZADD", "bike-timeline", "1", job});
    bike.host.queue->dispatch();
    CHECK(turn_until(bike.loop, [&] { return bike.command({"EXISTS", "bike-timeline"}) == "0"; }));
    CHECK(bike.event(job) == "TML");
    return claim;
  };
  CHECK(bike.host.settle(claimed_and_due("later:A"), BackOff{100s}));
  CHECK(bike.event("later:A") == "TML");
  CHECK(bike.due("later:A") > bike.now() + 90);

  bike.command({"DEL", "bike-timeline"});
  CHECK(bike.host.settle(claimed_and_due("back:A"), BackToQueue{}));
  CHECK(bike.event("back:A") == "ENQ");
  CHECK(bike.command({"LRANGE", "bike-work-A", "0", "-1"}) == "back:A");

  // A job that is on the timeline again keeps its status and its time.
  bike.command({"DEL", "bike-work-A", "bike-work-A-members"});
  for (const char* status : {"TML:1", "STP:1"}) {
    bike.enter("set:A");
    const Claim claim = bike.host.claim_one_job();
    bike.command({"HSET", "bike-statuses", "set:A", status});
    bike.command({"ZADD", "bike-timeline", "5000000000", "set:A"});
    CHECK(bike.host.settle(claim, BackOff{100s}));
    CHECK(bike.command({"HGET", "bike-statuses", "set:A"}) == status);
    CHECK(bike.due("set:A") == 5000000000);
  }
}

TEST_CASE(
    "the end of a run stops, unsets, fails, delays or requeues a job, as its disposition says") {
  Bike bike;
  bike.run("stop:A", "CONTINUE", StopForGood{});
  CHECK(bike.event("stop:A") == "STP");
  CHECK(bike.command({"HGET", "bike-schedules", "stop:A"}) == "STOP");
  bike.run("unset:A", "CONTINUE", UnsetJob{});
  CHECK(bike.command({"HEXISTS", "bike-schedules", "unset:A"}) == "0");
  CHECK(bike.command({"HEXISTS", "bike-statuses", "unset:A"}) == "0");
  bike.run("die:A", "CONTINUE", Die{});
  CHECK(bike.event("die:A") == "DIE");
  CHECK(bike.command({"HKEYS", "bike:kept-runs"}) == "die:A");
  CHECK(bike.command({"HGET", "bike-schedules", "die:A"}) == "CONTINUE");
  bike.run("later:A", "STOP", BackOff{100s});
  CHECK(bike.event("later:A") == "TML");
  CHECK(bike.due("later:A") > bike.now() + 90);
  CHECK(bike.command({"EXISTS", "bike-work-A", "bike:claims"}) == "0");

  bike.enter("back:A");
  const Claim claim = bike.host.claim_one_job();
  bike.enter("next:A");
  bike.host.queue->hand_back(claim);
  CHECK(bike.host.settled());
  CHECK(bike.event("back:A") == "ENQ");
  CHECK(bike.command({"LRANGE", "bike-work-A", "0", "-1"}) == "next:A\nback:A");
  CHECK(bike.command({"LLEN", "bike:runs"}) == "4");
}

TEST_CASE("a job whose key is gone or has another value is not rescheduled") {
  Bike bike;
  bike.enter("x:A");
  Claim claim = bike.host.claim_one_job();
  bike.command({"SET", "bike-work-A-x:A", "another"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "WRK");
  CHECK(bike.command({"GET", "bike-work-A-x:A"}) == "another");
  CHECK(bike.command({"EXISTS", "bike-work-A", "bike:claims"}) == "0");
  // If the key is gone, the claim stays recorded, so that the job is not lost.
  bike.enter("y:A");
  claim = bike.host.claim_one_job();
  bike.command({"DEL", "bike-work-A-y:A"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.command({"EXISTS", "bike-work-A"}) == "0");
  CHECK(bike.command({"HKEYS", "bike:claims"}) == "y:A");
  CHECK(bike.command({"LLEN", "bike:runs"}) == "2");
}

TEST_CASE("the record of a run whose key is gone waits for a server that accepts writes") {
  Bike bike;
  bike.enter("x:A");
  const Claim claim = bike.host.claim_one_job();
  bike.command({"DEL", "bike-work-A-x:A", "bike:claims"});
  bike.command({"REPLICAOF", "127.0.0.1", "1"});
  const auto before = bike.server.calls("evalsha");
  bike.host.queue->settle(bike.host.settlement(claim, ActOnSchedule{}));
  CHECK(turn_until(bike.loop, [&] { return bike.server.calls("evalsha") > before + 2; }));
  CHECK(bike.host.queue->unsettled() == 1);
  bike.command({"REPLICAOF", "NO", "ONE"});
  CHECK(bike.host.settled());
  CHECK(bike.command({"LLEN", "bike:runs"}) == "1");
  CHECK(bike.host.reported.unwritten.empty());
}

TEST_CASE("a rule that fires every second skips and repeats no time") {
  Bike bike;
  const std::string secondly = "DTSTART:20131009T164510\nRRULE:FREQ=SECONDLY";
  bike.run("x:A", secondly);
  // Runs of almost no duration, which end in any part of a second.
  for (int i = 0; i < 3; ++i) {
    const UnixSeconds due = bike.due("x:A");
    CHECK(query_until(bike.loop, [&] {
      bike.host.queue->dispatch();
      const std::size_t before = bike.host.reported.dispatches.size();
      turn_until(bike.loop, [&] { return bike.host.reported.dispatches.size() > before; });
      return bike.host.reported.dispatches.back().reply->enqueued == 1;
    }));
    CHECK(bike.host.settle(bike.host.claim_one_job(), ActOnSchedule{}));
    CHECK(bike.due("x:A") > due);
    CHECK(bike.due("x:A") > bike.now() - 1);
  }
}

TEST_CASE("a rule without DTSTART starts at the end of the run") {
  Bike bike;
  bike.enter("x:A", "FREQ=HOURLY");
  const Claim claim = bike.host.claim_one_job();
  const UnixSeconds taken = bike.now();
  // The host's estimate of the time of Redis is outdated.
  CHECK(query_until(bike.loop, [&] { return bike.now() > taken + 1; }));
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.due("x:A") > taken + 3600);
  CHECK(bike.due("x:A") <= bike.now() + 3600);
}

TEST_CASE("a rule without DTSTART is evaluated once, even if the settlement reaches Redis late") {
  Bike bike;
  bike.enter("x:A", "FREQ=HOURLY");
  const Claim claim = bike.host.claim_one_job();
  const UnixSeconds ended = bike.now();
  const auto calls = [&] { return bike.server.calls("evalsha") + bike.server.calls("eval"); };
  const auto before = calls();
  bike.server.pause();
  bike.host.queue->settle(bike.host.settlement(claim, ActOnSchedule{}));
  CHECK(turn_until(bike.loop, [&] { return std::time(nullptr) > ended + 1; }));
  bike.server.resume();
  CHECK(bike.host.settled());
  CHECK(calls() == before + 1);
  CHECK(bike.due("x:A") >= ended + 3600);
  CHECK(bike.due("x:A") <= ended + 3601);
}

// ---- lost replies

TEST_CASE("a settlement whose reply was lost is executed once") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), schedule_rule(), {"A"}, "here", 200ms);
  server.command({"HSET", "bike-schedules", "x:A", "CONTINUE"});
  server.command({"RPUSH", "bike-work-A", "x:A"});
  const Claim claim = host.claim_one_job();
  server.pause();
  host.queue->settle(host.settlement(claim, ActOnSchedule{}));
  turn_until(loop, [&] { return !host.session->client.connected(); });
  server.resume();
  CHECK(host.settled());
  CHECK(server.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.command({"LLEN", "bike:runs"}) == "1");
}

// ---- history, events and failures

TEST_CASE("schedules write history, events and failures like other lists") {
  Bike bike;
  bike.enter("x:A");
  std::vector<std::string> heard;
  bool confirmed = false;
  const auto events = bike.host.session->subscriber.subscribe(
      "bike:events", [&](std::string_view, std::string_view text) { heard.emplace_back(text); },
      [&] { confirmed = true; });
  CHECK(turn_until(bike.loop, [&] { return confirmed; }));
  Claim claim = bike.host.claim_one_job();
  JobSettlement end = bike.host.settlement(claim, BackOff{1s}, Crashed{"exit 3"});
  end.failures = FailureCount::increment;
  bike.host.queue->settle(std::move(end));
  CHECK(bike.host.settled());
  CHECK(bike.command({"HGET", "bike:failures", "x:A"}) == "1");
  CHECK(bike.command({"LRANGE", "bike:runs", "0", "-1"}).find("crashed") != std::string::npos);
  CHECK(turn_until(bike.loop, [&] { return heard.size() == 1; }));
  CHECK(heard[0].find("\"type\":\"end\"") != std::string::npos);
  bike.enter("x:A");
  claim = bike.host.claim_one_job();
  CHECK(claim.attempt == 2);
  end = bike.host.settlement(claim, ActOnSchedule{});
  end.failures = FailureCount::reset;
  bike.host.queue->settle(std::move(end));
  CHECK(bike.host.settled());
  CHECK(bike.command({"EXISTS", "bike:failures"}) == "0");
}

TEST_CASE("a record that cannot be written is reported, and the run is settled") {
  Bike bike;
  bike.command({"SET", "bike:runs", "a string"});
  bike.run("x:A", "STOP");
  CHECK(bike.event("x:A") == "STP");
  REQUIRE(bike.host.reported.unwritten.size() == 1);
  CHECK(bike.host.reported.unwritten[0].find("LTRIM") != std::string::npos);
  bike.command({"DEL", "bike:runs"});
  bike.run("x:A", "STOP");
  CHECK(bike.host.reported.unwritten.back() == "");
}
