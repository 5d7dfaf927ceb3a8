// Claims, leases and recovery of jobs of a schedule, beside programs of Redbike.
#include <doctest/doctest.h>

#include "schedule_bike.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

TEST_CASE("a claimed job is marked as Redbike does and recorded as claimed") {
  Bike bike;
  bike.enter("x:A");
  const Claim claim = bike.host.claim_one_job();
  CHECK(claim.item == "x:A");
  CHECK(claim.attempt == 1);
  CHECK(claim.fence.value() > 0);
  CHECK(bike.command({"GET", "bike:fence"}) == std::to_string(claim.fence.value()));
  const std::string tag = bike.command({"GET", "bike-work-A-x:A"});
  CHECK(tag.size() == 30);
  CHECK(tag.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(std::stoi(bike.command({"PTTL", "bike-work-A-x:A"})) > 50'000);
  CHECK(bike.event("x:A") == "WRK");
  CHECK(bike.command({"EXISTS", "bike-work-A", "bike-work-A-members"}) == "0");
  const std::string note = bike.command({"HGET", "bike:claims", "x:A"});
  CHECK(note.find("\"run:here:77:" + claim.run + "\"") != std::string::npos);
  CHECK(note.find(tag) != std::string::npos);
  CHECK(bike.host.queue->redis_now().count() / 1000 <= bike.now());
  CHECK(bike.host.queue->may_start(claim));

  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.command({"EXISTS", "bike-work-A-x:A", "bike:claims"}) == "0");
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
}

TEST_CASE("claims read the queues in order and continue where the last claim ended") {
  Bike bike(schedule_rule(), {"A", "A", "B"});
  for (int i = 0; i < 6; ++i) bike.enter(std::to_string(i) + ":A");
  for (int i = 0; i < 6; ++i) bike.enter(std::to_string(i) + ":B");
  CHECK(bike.jobs_of(bike.host.claim(1)) == std::vector<Item>{"0:A"});
  CHECK(bike.jobs_of(bike.host.claim(4)) == std::vector<Item>{"1:A", "0:B", "2:A", "3:A"});
  CHECK(bike.jobs_of(bike.host.claim(3)) == std::vector<Item>{"1:B", "4:A", "5:A"});
  const ClaimReply rest = bike.host.claim(9);
  CHECK(bike.jobs_of(rest) == std::vector<Item>{"2:B", "3:B", "4:B", "5:B"});
  CHECK(rest.end == ClaimEnd::empty);
  CHECK(bike.host.claim(1).end == ClaimEnd::empty);
}

TEST_CASE("one call claims at most 64 jobs of a schedule") {
  Bike bike;
  for (int i = 0; i < 70; ++i) bike.enter(std::to_string(i) + ":A");
  CHECK(bike.host.claim(70).claims.size() == 64);
  const ClaimReply rest = bike.host.claim(70);
  CHECK(rest.claims.size() == 6);
  CHECK(rest.end == ClaimEnd::empty);
}

// ---- jobs that are not claimed

TEST_CASE("HALT and a pause keep jobs in their queues and return their details") {
  Bike bike;
  bike.enter("x:A");
  bike.command({"SET", "bike-control", "HALT"});
  bike.command({"SET", "bike:halted", "alice on web1"});
  ClaimReply reply = bike.host.claim();
  CHECK(reply.end == ClaimEnd::halted);
  CHECK(reply.detail == "alice on web1");
  bike.command({"DEL", "bike-control"});
  bike.command({"SET", "bike:paused", "new disks", "EX", "60"});
  reply = bike.host.claim();
  CHECK(reply.end == ClaimEnd::paused);
  CHECK(reply.detail == "new disks");
  CHECK(reply.next_free.value() > 50s);
  bike.command({"DEL", "bike:paused"});
  CHECK(bike.host.claim().claims.size() == 1);
}

TEST_CASE("fleet_concurrency limits claims, and a settlement releases its slot") {
  ListConfig rule = schedule_rule();
  rule.fleet_concurrency = 2;
  Bike bike(rule);
  for (int i = 0; i < 4; ++i) bike.enter(std::to_string(i) + ":A", "STOP");
  const ClaimReply first = bike.host.claim(4);
  CHECK(first.claims.size() == 2);
  CHECK(first.end == ClaimEnd::fleet_full);
  const ClaimReply none = bike.host.claim(4);
  CHECK(none.claims.empty());
  CHECK(none.end == ClaimEnd::fleet_full);
  CHECK(none.next_free.value() > 50s);
  CHECK(bike.host.settle(first.claims[0], ActOnSchedule{}));
  CHECK(bike.host.claim(4).claims.size() == 1);
}

TEST_CASE("a claim without the permission to acquire a fleet slot claims no job") {
  RedisServer server({.config = {"user plain on nopass ~* &* +@all -zadd"}});
  loop::Loop loop;
  ListConfig rule = schedule_rule();
  rule.fleet_concurrency = 2;
  ScheduleHost host(loop, url_of_plain(server), rule);
  server.command({"RPUSH", "bike-work-A", "x:A"});
  CHECK(host.claim(1).end == ClaimEnd::refused);
  CHECK(server.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.command({"EXISTS", "bike-work-A-x:A", "bike:claims"}) == "0");
}

TEST_CASE("a job that is already running leaves its queue without a run") {
  Bike bike;
  bike.enter("x:A");
  bike.enter("y:A");
  bike.command({"SET", "bike-work-A-x:A", "another"});
  CHECK(bike.jobs_of(bike.host.claim(2)) == std::vector<Item>{"y:A"});
  CHECK(bike.command({"GET", "bike-work-A-x:A"}) == "another");
  CHECK(bike.command({"EXISTS", "bike-work-A", "bike-work-A-members"}) == "0");
}

TEST_CASE("a queue of a wrong type is reported and skipped, and other keys refuse the claim") {
  Bike bike(schedule_rule(), {"X", "A"});
  bike.enter("x:A");
  bike.command({"SET", "bike-work-X", "a string"});
  const ClaimReply reply = bike.host.claim(2);
  CHECK(bike.jobs_of(reply) == std::vector<Item>{"x:A"});
  REQUIRE(!bike.host.reported.unwritten.empty());
  CHECK(bike.host.reported.unwritten.back().find("bike-work-X is a string, not a list") !=
        std::string::npos);
  for (const std::string key : {"bike-statuses", "bike:claims", "bike-schedules", "bike-control"}) {
    CAPTURE(key);
    bike.command({"FLUSHALL"});
    bike.command({"RPUSH", "bike-work-A", "x:A"});
    bike.command({"RPUSH", key, "a list"});
    const ClaimReply refused = bike.host.claim(1);
    CHECK(refused.end == ClaimEnd::refused);
    CHECK(refused.detail.find("the key " + key + " is a list") != std::string::npos);
    CHECK(bike.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
    CHECK(bike.command({"EXISTS", "bike-work-A-x:A"}) == "0");
  }
}

TEST_CASE("a missing permission loses no job of a schedule") {
  RedisServer server({.config = {"user plain on nopass ~* &* +@all -hset"}});
  loop::Loop loop;
  ScheduleHost host(loop, url_of_plain(server));
  server.command({"RPUSH", "bike-work-A", "x:A"});
  CHECK(host.claim(1).end == ClaimEnd::refused);
  CHECK(server.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.command({"EXISTS", "bike-work-A-x:A", "bike:claims"}) == "0");
}

TEST_CASE("a missing permission for a queue leaves due jobs on the timeline") {
  for (const char* missing : {"-lpush", "-sadd", "-hset", "-zrem"}) {
    CAPTURE(missing);
    RedisServer server({.config = {std::string("user plain on nopass ~* &* +@all ") + missing}});
    loop::Loop loop;
    ScheduleHost host(loop, url_of_plain(server));
    server.command({"ZADD", "bike-timeline", "5", "x:A"});
    host.queue->dispatch();
    CHECK(turn_until(loop, [&] { return host.reported.dispatches.size() == 1; }));
    CHECK(host.reported.dispatches[0].trouble == ClaimEnd::refused);
    CHECK(server.command({"ZSCORE", "bike-timeline", "x:A"}) == "5");
  }
}

TEST_CASE("jobs are bytes, and a job that is too long is never run") {
  Bike bike;
  const std::vector<Item> jobs = {std::string("nul\0:A", 6), "new\nline:A", "\xff\xfe:A",
                                  std::string(65536, ':') + "A", " :A"};
  for (const Item& job : jobs) bike.enter(job, "STOP");
  const ClaimReply reply = bike.host.claim(9);
  CHECK(bike.jobs_of(reply) == jobs);
  for (const Claim& claim : reply.claims) CHECK(bike.host.settle(claim, ActOnSchedule{}));
  for (const Item& job : jobs) CHECK(bike.event(job) == "STP");
  CHECK(bike.command({"EXISTS", "bike:claims"}) == "0");

  bike.command({"EVAL", "return redis.call('LPUSH', KEYS[1], string.rep('x', 16777217) .. ':A')",
                "1", "bike-work-A"});
  bike.enter("next:A");
  const ClaimReply next = bike.host.claim(2);
  CHECK(bike.jobs_of(next) == std::vector<Item>{"next:A"});
  REQUIRE(next.parked.size() == 1);
  CHECK(next.parked[0].item.length == 16777219);
}

// ---- leases

TEST_CASE("the keys and the claim records of runs are renewed") {
  Bike bike(with_expiry(300ms));
  bike.enter("x:A");
  const Claim claim = bike.host.claim_one_job();
  const std::string before = bike.command({"HGET", "bike:claims", "x:A"});
  turn_for(bike.loop, 700ms);
  CHECK(bike.host.reported.lost.empty());
  CHECK(bike.command({"HGET", "bike:claims", "x:A"}) != before);
  CHECK(bike.command({"EXISTS", "bike-work-A-x:A"}) == "1");
  CHECK(bike.host.recover() == 0);
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.event("x:A") == "ENQ");
}

TEST_CASE("a missing lease is regained if the claim is still recorded, and lost otherwise") {
  Bike bike(with_expiry(300ms));
  bike.enter("x:A");
  const Claim claim = bike.host.claim_one_job();
  const std::string tag = bike.command({"GET", "bike-work-A-x:A"});
  bike.command({"DEL", "bike-work-A-x:A"});
  CHECK(query_until(bike.loop, [&] { return bike.command({"GET", "bike-work-A-x:A"}) == tag; }));
  bike.command({"DEL", "bike:claims"});
  bike.command({"DEL", "bike-work-A-x:A"});
  CHECK(turn_until(bike.loop, [&] { return bike.host.reported.lost.size() == 1; }));
  turn_for(bike.loop, 200ms);
  CHECK(bike.command({"EXISTS", "bike-work-A-x:A"}) == "0");
  CHECK(bike.host.settle(claim, BackToQueue{}));
  CHECK(bike.command({"EXISTS", "bike-work-A"}) == "0");
}

// ---- recovery

TEST_CASE("the job of a dead holder returns to the end of its queue that is claimed first") {
  Bike bike(with_expiry(200ms));
  bike.enter("x:A");
  {
    ScheduleHost dying(bike.loop, bike.server.url(), with_expiry(200ms), {"A"}, "dying");
    CHECK(dying.claim_one_job().item == "x:A");
  }
  bike.enter("y:A");
  CHECK(bike.host.recover() == 0);
  CHECK(bike.host.reported.next_recovery.value() <= 200ms);
  CHECK(query_until(bike.loop, [&] { return bike.command({"EXISTS", "bike-work-A-x:A"}) == "0"; }));
  CHECK(bike.host.recover() == 1);
  CHECK(!bike.host.reported.next_recovery);
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.command({"EXISTS", "bike:claims"}) == "0");
  const std::string record = bike.command({"LRANGE", "bike:runs", "0", "-1"});
  CHECK(record.find("\"item\":\"x:A\",\"host\":\"dying\"") != std::string::npos);
  CHECK(record.find("\"reason\":\"interrupted: host dying died\"") != std::string::npos);
  CHECK(bike.jobs_of(bike.host.claim(2)) == std::vector<Item>{"x:A", "y:A"});
}

TEST_CASE("a job that was set, stopped or claimed by Redbike after its claim is not recovered") {
  for (const std::string status : {"STP:5", "WRK:5", "(none)"}) {
    CAPTURE(status);
    Bike bike(with_expiry(100ms));
    bike.enter("x:A");
    {
      ScheduleHost dying(bike.loop, bike.server.url(), with_expiry(100ms), {"A"}, "dying");
      dying.claim_one_job();
    }
    if (status == "(none)") {
      bike.command({"HDEL", "bike-statuses", "x:A"});
    } else {
      bike.command({"HSET", "bike-statuses", "x:A", status});
    }
    CHECK(query_until(bike.loop, [&] {
      return bike.command({"EXISTS", "bike-work-A-x:A"}) == "0";
    }));
    CHECK(bike.host.recover() == 0);
    CHECK(bike.command({"EXISTS", "bike-work-A", "bike:claims"}) == "0");
  }
}

TEST_CASE("a job that became due again during its claim returns to its queue if its holder dies") {
  Bike bike(with_expiry(100ms));
  bike.enter("x:A");
  {
    ScheduleHost dying(bike.loop, bike.server.url(), with_expiry(100ms), {"A"}, "dying");
    dying.claim_one_job();
  }
  bike.command({"HSET", "bike-statuses", "x:A", "TML:5"});
  CHECK(query_until(bike.loop, [&] { return bike.command({"EXISTS", "bike-work-A-x:A"}) == "0"; }));
  CHECK(bike.host.recover() == 1);
  CHECK(bike.event("x:A") == "ENQ");
  CHECK(bike.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
}

TEST_CASE("invalid claim records are deleted, and many records are read in parts") {
  Bike bike;
  bike.command({"EVAL", "for i = 1, 2000 do redis.call('HSET', KEYS[1], 'j' .. i, 'x' .. i) end",
                "1", "bike:claims"});
  CHECK(bike.host.recover() == 0);
  CHECK(bike.command({"EXISTS", "bike:claims"}) == "0");
}

TEST_CASE("an in-doubt claim of a job of a schedule is undone") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), schedule_rule(), {"A"}, "here", 200ms);
  turn_until(loop, [&] { return host.session->client.connected(); });
  server.command({"HSET", "bike-schedules", "x:A", "CONTINUE"});
  server.command({"RPUSH", "bike-work-A", "x:A"});
  server.pause();
  const ClaimReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::unavailable);
  CHECK(host.session->in_doubt_claims.size() == 1);
  server.resume();
  CHECK(turn_until(loop, [&] { return host.session->in_doubt_claims.size() == 0; }));
  CHECK(server.command({"LRANGE", "bike-work-A", "0", "-1"}) == "x:A");
  CHECK(server.command({"EXISTS", "bike-work-A-x:A", "bike:claims"}) == "0");
}

TEST_CASE("a host is notified of its queues, the timeline, slots and control commands") {
  Bike bike(schedule_rule(), {"A", "B"});
  bike.host.queue->listen(true);
  CHECK(turn_until(bike.loop, [&] { return bike.host.reported.backs > 1; }));
  const std::pair<const char*, ScheduleNews> all[] = {{"queued\nZ\nB", ScheduleNews::queued},
                                                      {"timeline", ScheduleNews::timeline},
                                                      {"free", ScheduleNews::place},
                                                      {"control", ScheduleNews::orders},
                                                      {"hello", ScheduleNews::queued}};
  for (const auto& [message, news] : all) {
    bike.host.reported.news.clear();
    bike.command({"PUBLISH", "bike:wake", "queued\nZ"});  // this host does not serve the queue Z
    bike.command({"PUBLISH", "bike:wake", message});
    CHECK(turn_until(bike.loop, [&] { return !bike.host.reported.news.empty(); }));
    CHECK(bike.host.reported.news == std::vector{news});
  }
}

TEST_CASE("a host is notified of jobs that other clients add to its queues and timeline") {
  Bike bike(schedule_rule(), {"A", "B", "A"});
  ScheduleHost dispatcher(bike.loop, bike.server.url(), schedule_rule(), {"A"}, "there");
  const auto on = [](ScheduleHost& host) { return host.session->tracking.on("bike-timeline"); };
  CHECK(turn_until(bike.loop, [&] { return on(bike.host) && on(dispatcher); }));
  const auto report = [&](ScheduleHost& host, const std::vector<std::string>& command) {
    host.reported.news.clear();
    bike.command(command);
    return turn_until(bike.loop, [&] { return !host.reported.news.empty(); });
  };
  bike.host.queue->listen(true);
  const auto track_queues = [&] {
    (void)bike.host.queue->track();
    CHECK(turn_until(bike.loop, [&] { return bike.host.queue->hears(); }));
  };
  for (const std::string queue : {"A", "B"}) {
    CAPTURE(queue);
    track_queues();
    CHECK(report(bike.host, {"LPUSH", "bike-work-" + queue, "x:" + queue}));
    CHECK(bike.host.reported.news == std::vector{ScheduleNews::queued});
    CHECK_FALSE(bike.host.queue->hears());
    bike.command({"DEL", "bike-work-" + queue});
  }
  // An addition between the claim and the peek.
  bike.command({"LPUSH", "bike-work-A", "x:A"});
  bike.host.reported.news.clear();
  (void)bike.host.queue->track();
  CHECK(turn_until(bike.loop, [&] { return !bike.host.reported.news.empty(); }));

  const auto dispatch = [&] {
    const std::size_t before = dispatcher.reported.dispatches.size();
    dispatcher.queue->dispatch();
    CHECK(
        turn_until(bike.loop, [&] { return dispatcher.reported.dispatches.size() == before + 1; }));
    (void)dispatcher.queue->listen_to_timeline();
    turn_for(bike.loop, 20ms);
  };
  for (int i = 0; i < 2; ++i) {
    dispatch();
    CHECK(report(dispatcher, {"ZADD", "bike-timeline", "5", "z" + std::to_string(i) + ":A"}));
    CHECK(dispatcher.reported.news == std::vector{ScheduleNews::changed});
  }
  // The timeline has changed between the dispatch and the peek.
  dispatch();
  bike.command({"ZADD", "bike-timeline", "5", "y:A"});
  dispatcher.reported.news.clear();
  (void)dispatcher.queue->listen_to_timeline();
  CHECK(turn_until(bike.loop, [&] { return !dispatcher.reported.news.empty(); }));

  // A job that is not due earlier, and a change of another queue, are not reported.
  dispatch();
  bike.host.reported.news.clear();
  dispatcher.reported.news.clear();
  bike.command({"LPUSH", "bike-work-Z", "x:Z"});
  (void)dispatcher.queue->listen_to_timeline();
  turn_for(bike.loop, 20ms);
  CHECK(bike.host.reported.news.empty());
  CHECK(dispatcher.reported.news.empty());
}

TEST_CASE("dispatch reports its result or its error") {
  Bike bike;
  bike.command({"ZADD", "bike-timeline", "5", "x:A"});
  bike.host.queue->dispatch();
  CHECK(turn_until(bike.loop, [&] { return bike.host.reported.dispatches.size() == 1; }));
  CHECK(bike.host.reported.dispatches[0].reply->enqueued == 1);
  bike.command({"SET", "bike-timeline", "a string"});
  bike.host.queue->dispatch();
  CHECK(turn_until(bike.loop, [&] { return bike.host.reported.dispatches.size() == 2; }));
  CHECK(!bike.host.reported.dispatches[1].reply);
  CHECK(bike.host.reported.dispatches[1].trouble == ClaimEnd::refused);
}

// ---- lists with one key prefix

namespace schedule_queue_test {
namespace {
/// Lists "pages" with the queue P and "mails" with the queue M, both with the key prefix "bike".
struct TwoLists {
  static ListConfig list(const char* name, Duration expiry = 60s) {
    ListConfig rule = with_expiry(expiry);
    rule.prefix = name;
    rule.fleet_concurrency = 1;
    rule.source = ScheduleSettings{};
    rule.schedule().key_prefix = "bike";
    return rule;
  }

  Bike bike{list("pages"), {"P"}};
  ScheduleHost mails{bike.loop, bike.server.url(), list("mails"), {"M"}, "there"};
};
}  // namespace

TEST_CASE("lists with one key prefix have slots, pauses and histories of their own") {
  TwoLists lists;
  Bike& bike = lists.bike;
  bike.enter("x:P");
  bike.enter("y:P");
  bike.enter("x:M");
  const Claim page = bike.host.claim_one_job();
  CHECK(page.item == "x:P");
  CHECK(bike.host.claim(1).end == ClaimEnd::fleet_full);
  bike.command({"SET", "bike:paused:mails", "why"});
  CHECK(lists.mails.claim(1).end == ClaimEnd::paused);
  bike.command({"DEL", "bike:paused:mails"});
  const Claim mail = lists.mails.claim_one_job();
  CHECK(mail.item == "x:M");
  CHECK(bike.command({"ZCARD", "bike:slots:pages"}) == "1");
  CHECK(bike.command({"ZCARD", "bike:slots:mails"}) == "1");
  CHECK(bike.host.settle(page, ActOnSchedule{}));
  CHECK(lists.mails.settle(mail, Die{}, Failed{"no"}));
  CHECK(bike.command({"EXISTS", "bike:slots:pages", "bike:slots:mails", "bike:claims"}) == "0");
  CHECK(bike.command({"LRANGE", "bike:runs:pages", "0", "-1"}).find("\"list\":\"pages\"") !=
        std::string::npos);
  CHECK(bike.command({"LLEN", "bike:runs:mails"}) == "1");
  CHECK(bike.command({"HLEN", "bike:kept-runs:mails"}) == "1");
  CHECK(bike.command({"EXISTS", "bike:runs", "bike:failed-runs", "bike:kept-runs"}) == "0");
}

TEST_CASE(
    "a list recovers its own jobs of a dead holder, and those of other lists after a minute") {
  TwoLists lists;
  Bike& bike = lists.bike;
  bike.enter("x:M");
  {
    ScheduleHost dying(bike.loop, bike.server.url(), TwoLists::list("mails", 100ms), {"M"},
                       "dying");
    CHECK(dying.claim_one_job().item == "x:M");
  }
  CHECK(query_until(bike.loop, [&] { return bike.command({"EXISTS", "bike-work-M-x:M"}) == "0"; }));
  CHECK(bike.host.recover() == 0);
  CHECK(bike.host.reported.next_recovery.value() > 50s);
  const std::string claim = bike.command({"HGET", "bike:claims", "x:M"});
  CHECK(lists.mails.recover() == 1);
  CHECK(bike.command({"LRANGE", "bike:runs:mails", "0", "-1"}).find("\"list\":\"mails\"") !=
        std::string::npos);
  // As if the lease had ended long ago.
  const auto at = claim.find("\"until\":") + 8;
  const auto end = claim.find_first_of(",}", at);
  const std::string old = claim.substr(0, at) + "1000" + claim.substr(end);
  bike.command({"HSET", "bike:claims", "x:M", old});
  bike.host.recover();
  CHECK(bike.command({"EXISTS", "bike:claims", "bike:runs:pages"}) == "0");
}

TEST_CASE("one dispatch follows the catch_up of each list with its key prefix") {
  Bike bike(TwoLists::list("pages"), {"P"});
  ListConfig rule = *bike.host.rule;
  rule.schedule().shared.others = {{"M", CatchUp::all, "mails"}};
  bike.host.rule = std::make_shared<const ListConfig>(rule);
  bike.host.queue->use(bike.host.rule);
  for (const char* job : {"x:P", "x:M"}) {
    bike.command({"HSET", "bike-schedules", job, daily});
    bike.command({"ZADD", "bike-timeline", "1000000", job});
  }
  bike.host.queue->dispatch();
  CHECK(turn_until(bike.loop, [&] { return !bike.host.reported.dispatches.empty(); }));
  CHECK(bike.event("x:P") == "ENQ");
  CHECK(bike.event("x:M") == "ENQ");
  CHECK(bike.command({"HGET", "bike:due", "x:M"}) == "1000000");
  CHECK(bike.command({"HEXISTS", "bike:due", "x:P"}) == "0");
}
}  // namespace schedule_queue_test
