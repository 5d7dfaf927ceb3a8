// Jobs are taken, and their runs end, beside programs of Redbike.
#include <doctest/doctest.h>

#include "schedule_host.hpp"
#include "store/schedule/changes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;

namespace {

struct Bike {
  explicit Bike(Rule rule = schedule_rule(), std::vector<std::string> codes = {"A"})
      : host(loop, server.url(), std::move(rule), std::move(codes)) {}

  std::string ask(const std::vector<std::string>& words) const { return server.ask(words); }
  std::string event(const std::string& job) const {
    return ask({"HGET", "bike-statuses", job}).substr(0, 3);
  }
  UnixSeconds now() const { return std::stoll(ask({"TIME"})); }
  UnixSeconds due(const std::string& job) const {
    return std::stoll(ask({"ZSCORE", "bike-timeline", job}));
  }
  /// As a client of Redbike enters it.
  void enter(const std::string& job, const std::string& schedule = "CONTINUE") {
    const std::string queue = "bike-work-" + std::string(code_of(job));
    ask({"HSET", "bike-schedules", job, schedule});
    ask({"LPUSH", queue, job});
    ask({"SADD", queue + "-members", job});
    ask({"HSET", "bike-statuses", job, "ENQ:1"});
  }
  /// A run of this job, from its queue to its end.
  void run(const std::string& job, const std::string& schedule, JobEnd what = ActOnSchedule{}) {
    enter(job, schedule);
    const Claim claim = host.take_one();
    CHECK(claim.item == job);
    CHECK(host.settle(claim, what));
  }
  std::vector<Item> jobs_of(const TakeReply& reply) const {
    std::vector<Item> jobs;
    for (const Claim& claim : reply.claims) jobs.push_back(claim.item);
    return jobs;
  }

  RedisServer server;
  loop::Loop loop;
  ScheduleHost host;
};

Rule with_expiry(Duration expiry) {
  Rule rule = schedule_rule();
  rule.key_expiry = expiry;
  return rule;
}

constexpr const char* daily = "DTSTART:20131009T164510\nRRULE:FREQ=DAILY";

}  // namespace

TEST_CASE("a job that is taken is marked as Redbike does, and noted as taken") {
  Bike bike;
  bike.enter("x:A");
  const Claim claim = bike.host.take_one();
  CHECK(claim.item == "x:A");
  CHECK(claim.attempt == 1);
  CHECK(claim.fence.value() > 0);
  CHECK(bike.ask({"GET", "bike:fence"}) == std::to_string(claim.fence.value()));
  const std::string tag = bike.ask({"GET", "bike-work-A-x:A"});
  CHECK(tag.size() == 30);
  CHECK(tag.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(std::stoi(bike.ask({"PTTL", "bike-work-A-x:A"})) > 50'000);
  CHECK(bike.event("x:A") == "WRK");
  CHECK(bike.ask({"EXISTS", "bike-work-A", "bike-work-A-members"}) == "0");
  const std::string note = bike.ask({"HGET", "bike:taken", "x:A"});
  CHECK(note.find("\"run:here:77:" + claim.run + "\"") != std::string::npos);
  CHECK(note.find(tag) != std::string::npos);
  CHECK(bike.host.queue->redis_now().count() / 1000 <= bike.now());
  CHECK(bike.host.queue->may_start(claim));

  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.ask({"EXISTS", "bike-work-A-x:A", "bike:taken"}) == "0");
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
}

TEST_CASE("queues are visited in their order, and the next visit goes on where the last ended") {
  Bike bike(schedule_rule(), {"A", "A", "B"});
  for (int i = 0; i < 6; ++i) bike.enter(std::to_string(i) + ":A");
  for (int i = 0; i < 6; ++i) bike.enter(std::to_string(i) + ":B");
  CHECK(bike.jobs_of(bike.host.take(1)) == std::vector<Item>{"0:A"});
  CHECK(bike.jobs_of(bike.host.take(4)) == std::vector<Item>{"1:A", "0:B", "2:A", "3:A"});
  CHECK(bike.jobs_of(bike.host.take(3)) == std::vector<Item>{"1:B", "4:A", "5:A"});
  const TakeReply rest = bike.host.take(9);
  CHECK(bike.jobs_of(rest) == std::vector<Item>{"2:B", "3:B", "4:B", "5:B"});
  CHECK(rest.end == ClaimEnd::empty);
  CHECK(bike.host.take(1).end == ClaimEnd::empty);
}

TEST_CASE("more jobs than one call takes") {
  Bike bike;
  for (int i = 0; i < 70; ++i) bike.enter(std::to_string(i) + ":A");
  CHECK(bike.host.take(70).claims.size() == 64);
  const TakeReply rest = bike.host.take(70);
  CHECK(rest.claims.size() == 6);
  CHECK(rest.end == ClaimEnd::empty);
}

// ---- what Redbike's own tests have: how a run ends

TEST_CASE("end of a run: STOP") {
  Bike bike;
  bike.run("x:A", "STOP");
  CHECK(bike.event("x:A") == "STP");
  CHECK(bike.ask({"EXISTS", "bike-work-A", "bike-timeline"}) == "0");
}

TEST_CASE("end of a run: CONTINUE, with a backoff and without") {
  Bike bike;
  bike.run("x:A", "CONTINUE");
  CHECK(bike.event("x:A") == "ENQ");
  bike.ask({"DEL", "bike-work-A", "bike-work-A-members"});
  const UnixSeconds before = bike.now();
  bike.run("y:A", "CONTINUE", ActOnSchedule{30s});
  CHECK(bike.event("y:A") == "TML");
  CHECK(bike.due("y:A") >= before + 30);
  CHECK(bike.due("y:A") <= bike.now() + 30);
  // A backoff counts with CONTINUE only.
  bike.run("z:A", "STOP", ActOnSchedule{30s});
  CHECK(bike.event("z:A") == "STP");
}

TEST_CASE("end of a run: a rule, a bad one, one that has run out") {
  Bike bike;
  bike.run("x:A", daily);
  CHECK(bike.event("x:A") == "TML");
  CHECK(bike.due("x:A") > bike.now());
  CHECK(bike.due("x:A") <= bike.now() + 86400);
  CHECK(bike.due("x:A") % 86400 == 16 * 3600 + 45 * 60 + 10);
  bike.run("y:A", "DTSTART:20131009T164510\nR:FREQ=Secondly");
  CHECK(bike.event("y:A") == "BAD");
  CHECK(bike.host.told.parked.size() == 1);
  bike.run("z:A", "DTSTART:20131009T164510\nRRULE:FREQ=DAILY;COUNT=2");
  CHECK(bike.event("z:A") == "STP");
  CHECK(bike.ask({"ZCARD", "bike-timeline"}) == "1");
}

TEST_CASE("end of a run: NOW and AT, set meanwhile, are done once") {
  Bike bike;
  bike.run("x:A", "NOW");  // as another than us might leave it there
  CHECK(bike.ask({"HGET", "bike-schedules", "x:A"}) == "STOP");
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.host.settle(bike.host.take_one(), ActOnSchedule{}));
  CHECK(bike.event("x:A") == "STP");
  bike.run("y:A", "AT:5000000000");
  CHECK(bike.ask({"HGET", "bike-schedules", "y:A"}) == "STOP");
  CHECK(bike.due("y:A") == 5000000000);
}

TEST_CASE("what is set or unset during a run wins") {
  Bike bike;
  bike.enter("x:A", "CONTINUE");
  Claim claim = bike.host.take_one();
  bike.ask({"HSET", "bike-schedules", "x:A", "STOP"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "STP");

  bike.enter("x:A", "STOP");
  claim = bike.host.take_one();
  bike.ask({"HSET", "bike-schedules", "x:A", daily});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "TML");

  for (const JobEnd& what : std::vector<JobEnd>{ActOnSchedule{}, BackOff{5s}, BackToQueue{}}) {
    bike.ask({"FLUSHALL"});
    bike.enter("y:A");
    claim = bike.host.take_one();
    bike.ask({"HDEL", "bike-statuses", "y:A"});
    bike.ask({"HDEL", "bike-schedules", "y:A"});
    JobSettlement end = bike.host.settlement(claim, what);
    end.failures = FailureCount::increment;
    bike.host.queue->settle(std::move(end));
    CHECK(bike.host.settled());
    CHECK(bike.ask({"EXISTS", "bike-statuses", "bike-schedules", "bike-timeline", "bike-work-A",
                    "bike-work-A-y:A", "bike:taken", "bike:failures"}) == "0");
  }
}

TEST_CASE("end of a run: stopped, unset, died, backed off, back to its queue") {
  Bike bike;
  bike.run("stop:A", "CONTINUE", StopForGood{});
  CHECK(bike.event("stop:A") == "STP");
  CHECK(bike.ask({"HGET", "bike-schedules", "stop:A"}) == "STOP");
  bike.run("unset:A", "CONTINUE", UnsetJob{});
  CHECK(bike.ask({"HEXISTS", "bike-schedules", "unset:A"}) == "0");
  CHECK(bike.ask({"HEXISTS", "bike-statuses", "unset:A"}) == "0");
  bike.run("die:A", "CONTINUE", Die{});
  CHECK(bike.event("die:A") == "DIE");
  CHECK(bike.ask({"HGET", "bike-schedules", "die:A"}) == "CONTINUE");
  bike.run("later:A", "STOP", BackOff{100s});
  CHECK(bike.event("later:A") == "TML");
  CHECK(bike.due("later:A") > bike.now() + 90);
  CHECK(bike.ask({"EXISTS", "bike-work-A", "bike:taken"}) == "0");

  bike.enter("back:A");
  const Claim claim = bike.host.take_one();
  bike.enter("next:A");
  bike.host.queue->hand_back(claim);
  CHECK(bike.host.settled());
  CHECK(bike.event("back:A") == "ENQ");
  CHECK(bike.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "next:A\nback:A");
  CHECK(bike.ask({"XLEN", "bike:runs"}) == "4");
}

TEST_CASE("a job whose key is gone or another's is not rescheduled") {
  Bike bike;
  bike.enter("x:A");
  Claim claim = bike.host.take_one();
  bike.ask({"SET", "bike-work-A-x:A", "another"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "WRK");
  CHECK(bike.ask({"GET", "bike-work-A-x:A"}) == "another");
  CHECK(bike.ask({"EXISTS", "bike-work-A", "bike:taken"}) == "0");
  // One that is gone stays noted, so that it is not lost.
  bike.enter("y:A");
  claim = bike.host.take_one();
  bike.ask({"DEL", "bike-work-A-y:A"});
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.ask({"EXISTS", "bike-work-A"}) == "0");
  CHECK(bike.ask({"HKEYS", "bike:taken"}) == "y:A");
  CHECK(bike.ask({"XLEN", "bike:runs"}) == "2");
}

TEST_CASE("a rule that fires every second is neither skipped nor doubled") {
  Bike bike;
  const std::string secondly = "DTSTART:20131009T164510\nRRULE:FREQ=SECONDLY";
  bike.run("x:A", secondly);
  // Runs that take next to nothing, and their ends in any part of a second.
  for (int i = 0; i < 3; ++i) {
    const UnixSeconds due = bike.due("x:A");
    CHECK(ask_until(bike.loop, [&] {
      bike.host.queue->dispatch();
      const std::size_t before = bike.host.told.dispatches.size();
      turn_until(bike.loop, [&] { return bike.host.told.dispatches.size() > before; });
      return bike.host.told.dispatches.back().reply->enqueued == 1;
    }));
    CHECK(bike.host.settle(bike.host.take_one(), ActOnSchedule{}));
    CHECK(bike.due("x:A") > due);
    CHECK(bike.due("x:A") > bike.now() - 1);
  }
}

TEST_CASE("a rule without a beginning begins at the end of the run") {
  Bike bike;
  bike.enter("x:A", "FREQ=HOURLY");
  const Claim claim = bike.host.take_one();
  const UnixSeconds taken = bike.now();
  CHECK(ask_until(bike.loop, [&] { return bike.now() > taken; }));
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.due("x:A") > taken + 3600);
  CHECK(bike.due("x:A") <= bike.now() + 3600);
}

// ---- who may take

TEST_CASE("HALT and a pause keep jobs in their queues, and say whose they are") {
  Bike bike;
  bike.enter("x:A");
  bike.ask({"SET", "bike-control", "HALT"});
  bike.ask({"SET", "bike:halted", "alice on web1"});
  TakeReply reply = bike.host.take();
  CHECK(reply.halted);
  CHECK(reply.end == ClaimEnd::paused);
  CHECK(reply.detail == "alice on web1");
  bike.ask({"DEL", "bike-control"});
  bike.ask({"SET", "bike:paused", "new disks", "EX", "60"});
  reply = bike.host.take();
  CHECK(!reply.halted);
  CHECK(reply.end == ClaimEnd::paused);
  CHECK(reply.detail == "new disks");
  CHECK(reply.next_free.value() > 50s);
  bike.ask({"DEL", "bike:paused"});
  CHECK(bike.host.take().claims.size() == 1);
}

TEST_CASE("the fleet has so many places, and they come back") {
  Rule rule = schedule_rule();
  rule.fleet_concurrency = 2;
  Bike bike(rule);
  for (int i = 0; i < 4; ++i) bike.enter(std::to_string(i) + ":A", "STOP");
  const TakeReply first = bike.host.take(4);
  CHECK(first.claims.size() == 2);
  CHECK(first.end == ClaimEnd::fleet_full);
  const TakeReply none = bike.host.take(4);
  CHECK(none.claims.empty());
  CHECK(none.end == ClaimEnd::fleet_full);
  CHECK(none.next_free.value() > 50s);
  CHECK(bike.host.settle(first.claims[0], ActOnSchedule{}));
  CHECK(bike.host.take(4).claims.size() == 1);
}

TEST_CASE("what is worked on already leaves its queue without a run") {
  Bike bike;
  bike.enter("x:A");
  bike.enter("y:A");
  bike.ask({"SET", "bike-work-A-x:A", "another"});
  CHECK(bike.jobs_of(bike.host.take(2)) == std::vector<Item>{"y:A"});
  CHECK(bike.ask({"GET", "bike-work-A-x:A"}) == "another");
  CHECK(bike.ask({"EXISTS", "bike-work-A", "bike-work-A-members"}) == "0");
}

TEST_CASE("keys of a wrong type: one queue is told and others go on, others refuse the take") {
  Bike bike(schedule_rule(), {"X", "A"});
  bike.enter("x:A");
  bike.ask({"SET", "bike-work-X", "a string"});
  const TakeReply reply = bike.host.take(2);
  CHECK(bike.jobs_of(reply) == std::vector<Item>{"x:A"});
  CHECK(reply.refused.find("bike-work-X is a string, not a list") != std::string::npos);
  for (const std::string key : {"bike-statuses", "bike:taken", "bike-schedules", "bike-control"}) {
    CAPTURE(key);
    bike.ask({"FLUSHALL"});
    bike.ask({"RPUSH", "bike-work-A", "x:A"});
    bike.ask({"RPUSH", key, "a list"});
    const TakeReply refused = bike.host.take(1);
    CHECK(refused.end == ClaimEnd::refused);
    CHECK(refused.detail.find("the key " + key + " is a list") != std::string::npos);
    CHECK(bike.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
    CHECK(bike.ask({"EXISTS", "bike-work-A-x:A"}) == "0");
  }
}

TEST_CASE("a right that is missing loses no job") {
  RedisServer server({.config = {"user plain on nopass ~* &* +@all -hset"}});
  loop::Loop loop;
  ScheduleHost host(loop, url_for(server, false));
  server.ask({"RPUSH", "bike-work-A", "x:A"});
  CHECK(host.take(1).end == ClaimEnd::refused);
  CHECK(server.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.ask({"EXISTS", "bike-work-A-x:A", "bike:taken"}) == "0");
}

TEST_CASE("jobs are bytes; too long a one is BAD, and never run") {
  Bike bike;
  const std::vector<Item> jobs = {std::string("nul\0:A", 6), "new\nline:A", "\xff\xfe:A",
                                  std::string(65536, ':') + "A", " :A"};
  for (const Item& job : jobs) bike.enter(job, "STOP");
  const TakeReply reply = bike.host.take(9);
  CHECK(bike.jobs_of(reply) == jobs);
  for (const Claim& claim : reply.claims) CHECK(bike.host.settle(claim, ActOnSchedule{}));
  for (const Item& job : jobs) CHECK(bike.event(job) == "STP");
  CHECK(bike.ask({"EXISTS", "bike:taken"}) == "0");

  bike.ask({"EVAL", "return redis.call('LPUSH', KEYS[1], string.rep('x', 16777217) .. ':A')", "1",
            "bike-work-A"});
  bike.enter("next:A");
  const TakeReply next = bike.host.take(2);
  CHECK(bike.jobs_of(next) == std::vector<Item>{"next:A"});
  REQUIRE(next.parked.size() == 1);
  CHECK(next.parked[0].length == 16777219);
}

// ---- leases

TEST_CASE("keys of runs are renewed, and so is what is noted of them") {
  Bike bike(with_expiry(300ms));
  bike.enter("x:A");
  const Claim claim = bike.host.take_one();
  const std::string before = bike.ask({"HGET", "bike:taken", "x:A"});
  turn_for(bike.loop, 700ms);
  CHECK(bike.host.told.lost.empty());
  CHECK(bike.ask({"HGET", "bike:taken", "x:A"}) != before);
  CHECK(bike.ask({"EXISTS", "bike-work-A-x:A"}) == "1");
  CHECK(bike.host.recover() == 0);
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "ENQ");
}

TEST_CASE("a lease that is gone is lost, and back where the job is still noted as ours") {
  Bike bike(with_expiry(300ms));
  bike.enter("x:A");
  const Claim claim = bike.host.take_one();
  const std::string tag = bike.ask({"GET", "bike-work-A-x:A"});
  bike.ask({"DEL", "bike-work-A-x:A"});
  CHECK(ask_until(bike.loop, [&] { return bike.ask({"GET", "bike-work-A-x:A"}) == tag; }));
  bike.ask({"DEL", "bike:taken"});
  bike.ask({"DEL", "bike-work-A-x:A"});
  CHECK(turn_until(bike.loop, [&] { return bike.host.told.lost.size() == 1; }));
  turn_for(bike.loop, 200ms);
  CHECK(bike.ask({"EXISTS", "bike-work-A-x:A"}) == "0");
  CHECK(bike.host.settle(claim, BackToQueue{}));
  CHECK(bike.ask({"EXISTS", "bike-work-A"}) == "0");
}

// ---- recovery

TEST_CASE("a job whose holder died goes back to the taking end of its queue") {
  Bike bike(with_expiry(200ms));
  bike.enter("x:A");
  {
    ScheduleHost dying(bike.loop, bike.server.url(), with_expiry(200ms), {"A"}, "dying");
    CHECK(dying.take_one().item == "x:A");
  }
  bike.enter("y:A");
  CHECK(bike.host.recover() == 0);
  CHECK(bike.host.told.next_recovery.value() <= 200ms);
  CHECK(ask_until(bike.loop, [&] { return bike.ask({"EXISTS", "bike-work-A-x:A"}) == "0"; }));
  CHECK(bike.host.recover() == 1);
  CHECK(!bike.host.told.next_recovery);
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.ask({"EXISTS", "bike:taken"}) == "0");
  CHECK(bike.jobs_of(bike.host.take(2)) == std::vector<Item>{"x:A", "y:A"});
}

TEST_CASE("a job that was set, or worked on by Redbike since, stays as it is") {
  for (const std::string status : {"STP:5", "WRK:5", "(none)"}) {
    CAPTURE(status);
    Bike bike(with_expiry(100ms));
    bike.enter("x:A");
    {
      ScheduleHost dying(bike.loop, bike.server.url(), with_expiry(100ms), {"A"}, "dying");
      dying.take_one();
    }
    if (status == "(none)") {
      bike.ask({"HDEL", "bike-statuses", "x:A"});
    } else {
      bike.ask({"HSET", "bike-statuses", "x:A", status});
    }
    CHECK(ask_until(bike.loop, [&] { return bike.ask({"EXISTS", "bike-work-A-x:A"}) == "0"; }));
    CHECK(bike.host.recover() == 0);
    CHECK(bike.ask({"EXISTS", "bike-work-A", "bike:taken"}) == "0");
  }
}

TEST_CASE("notes that are none are forgotten, and many are looked through in parts") {
  Bike bike;
  bike.ask({"EVAL", "for i = 1, 2000 do redis.call('HSET', KEYS[1], 'j' .. i, 'x' .. i) end", "1",
            "bike:taken"});
  CHECK(bike.host.recover() == 0);
  CHECK(bike.ask({"EXISTS", "bike:taken"}) == "0");
}

TEST_CASE("a take whose answer was lost is undone") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), schedule_rule(), {"A"}, "here", 200ms);
  turn_until(loop, [&] { return host.session->client.connected(); });
  server.ask({"HSET", "bike-schedules", "x:A", "CONTINUE"});
  server.ask({"RPUSH", "bike-work-A", "x:A"});
  server.pause();
  const TakeReply reply = host.take(1);
  CHECK(reply.end == ClaimEnd::unavailable);
  CHECK(host.queue->unsettled() == 1);
  server.resume();
  CHECK(host.settled());
  CHECK(host.told.all_settled == 1);
  CHECK(server.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.ask({"EXISTS", "bike-work-A-x:A", "bike:taken"}) == "0");
}

TEST_CASE("an end whose answer was lost is carried out once") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), schedule_rule(), {"A"}, "here", 200ms);
  server.ask({"HSET", "bike-schedules", "x:A", "CONTINUE"});
  server.ask({"RPUSH", "bike-work-A", "x:A"});
  const Claim claim = host.take_one();
  server.pause();
  host.queue->settle(host.settlement(claim, ActOnSchedule{}));
  turn_until(loop, [&] { return !host.session->client.connected(); });
  server.resume();
  CHECK(host.settled());
  CHECK(server.ask({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.ask({"XLEN", "bike:runs"}) == "1");
}

// ---- beside

TEST_CASE("history, events and failures are those of other kinds of work") {
  Bike bike;
  bike.enter("x:A");
  std::vector<std::string> heard;
  bool confirmed = false;
  const auto events = bike.host.session->subscriber.subscribe(
      "bike:events", [&](std::string_view, std::string_view text) { heard.emplace_back(text); },
      [&] { confirmed = true; });
  CHECK(turn_until(bike.loop, [&] { return confirmed; }));
  Claim claim = bike.host.take_one();
  JobSettlement end = bike.host.settlement(claim, BackOff{1s}, Crashed{"exit 3"});
  end.failures = FailureCount::increment;
  bike.host.queue->settle(std::move(end));
  CHECK(bike.host.settled());
  CHECK(bike.ask({"HGET", "bike:failures", "x:A"}) == "1");
  CHECK(bike.ask({"XREVRANGE", "bike:runs", "+", "-"}).find("crashed") != std::string::npos);
  CHECK(turn_until(bike.loop, [&] { return heard.size() == 1; }));
  CHECK(heard[0].find("\"type\":\"end\"") != std::string::npos);
  bike.enter("x:A");
  claim = bike.host.take_one();
  CHECK(claim.attempt == 2);
  end = bike.host.settlement(claim, ActOnSchedule{});
  end.failures = FailureCount::reset;
  bike.host.queue->settle(std::move(end));
  CHECK(bike.host.settled());
  CHECK(bike.ask({"EXISTS", "bike:failures"}) == "0");
}

TEST_CASE("what can't be noted beside the key is told, and the run ends all the same") {
  Bike bike;
  bike.ask({"SET", "bike:runs", "a string"});
  bike.run("x:A", "STOP");
  CHECK(bike.event("x:A") == "STP");
  REQUIRE(bike.host.told.unwritten.size() == 1);
  CHECK(bike.host.told.unwritten[0].find("XADD") != std::string::npos);
  bike.ask({"DEL", "bike:runs"});
  bike.run("x:A", "STOP");
  CHECK(bike.host.told.unwritten.back() == "");
}

TEST_CASE("news are heard: of our queues, of the timeline, of orders") {
  Bike bike(schedule_rule(), {"A", "B"});
  bike.host.queue->listen(true);
  CHECK(turn_until(bike.loop, [&] { return bike.host.told.backs > 1; }));
  bike.host.told.news.clear();
  for (const char* message : {"queued\nZ", "queued\nZ\nB", "timeline", "free", "control", "hello"})
    bike.ask({"PUBLISH", "bike:wake", message});
  CHECK(turn_until(bike.loop, [&] { return bike.host.told.news.size() == 5; }));
  CHECK(bike.host.told.news ==
        std::vector<ScheduleNews>{ScheduleNews::queued, ScheduleNews::timeline, ScheduleNews::place,
                                  ScheduleNews::orders, ScheduleNews::queued});
}

TEST_CASE("dispatch tells what it did, and why it could not") {
  Bike bike;
  bike.ask({"ZADD", "bike-timeline", "5", "x:A"});
  bike.host.queue->dispatch();
  CHECK(turn_until(bike.loop, [&] { return bike.host.told.dispatches.size() == 1; }));
  CHECK(bike.host.told.dispatches[0].reply->enqueued == 1);
  bike.ask({"SET", "bike-timeline", "a string"});
  bike.host.queue->dispatch();
  CHECK(turn_until(bike.loop, [&] { return bike.host.told.dispatches.size() == 2; }));
  CHECK(!bike.host.told.dispatches[1].reply);
  CHECK(bike.host.told.dispatches[1].trouble == ClaimEnd::refused);
}
