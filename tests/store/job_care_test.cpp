// Jobs of a feed whose holder is gone, or which are nowhere, on a real server.
#include <doctest/doctest.h>

#include "store/job_host.hpp"
#include "store/thoonk/job_feed.hpp"
#include "store/thoonk/redis_job_care.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::store::thoonk;

namespace job_care_test {

namespace {

/// A host that maintains the feed.
struct Carer : JobCareHandler {
  Carer(loop::Loop& shared, const std::string& url, const Rule& rule, const std::string& name)
      : loop(shared), care(open_link(shared, url, name), *this) {
    care.use(std::make_shared<const Rule>(rule));
  }
  void on_recovered(std::optional<Duration>) override {}
  void on_maintained(const MaintenanceResult& result, const std::string& why) override {
    results.push_back(result);
    trouble = why;
  }
  void on_back() override {}
  MaintenanceResult maintain() {
    const std::size_t before = results.size();
    care.maintain();
    turn_until(loop, [&] { return results.size() > before; });
    return results.empty() ? MaintenanceResult{} : results.back();
  }

  loop::Loop& loop;
  std::vector<MaintenanceResult> results;
  std::string trouble;
  RedisJobCare care;
};

/// Numbers as ids, in one command.
void put_many(const JobPlace& feed, int first, int last) {
  std::vector<std::string> ids{"LPUSH", "feed.ids:f"};
  std::vector<std::string> items{"HSET", "feed.items:f"};
  for (int i = first; i < last; ++i) {
    ids.push_back(std::to_string(i));
    items.push_back(ids.back());
    items.push_back("payload");
  }
  feed.ask(ids);
  feed.ask(items);
}

}  // namespace

TEST_CASE(
    "what a host that is gone has claimed is taken back when its lease is over, never before") {
  Rule rule = job_rule();
  rule.max_failures = 2;
  JobPlace feed(rule);
  feed.put("live");
  feed.put("gone");
  feed.put("last");
  feed.put("foreign");
  feed.ask({"HSET", "feed.cancelled:f", "last", "1"});
  const TakeReply taken = feed.host.take(3);
  REQUIRE(taken.claims.size() == 3);
  // As a client claims that writes no lease.
  feed.ask({"RPOP", "feed.ids:f"});
  feed.ask({"ZADD", "feed.claimed:f", "1732147200000", "foreign"});
  JobHost other(feed.loop, feed.server.url(), rule, "there");
  JobHost::Recovered found = other.recover();
  CHECK(found.count == 0);
  CHECK(found.next.value() > 30s);
  // Only its key, as after a failover that lost it: its holder may live.
  feed.ask({"DEL", "feed.lease:f:gone"});
  CHECK(other.recover().count == 0);
  for (const std::string id : {"gone", "last"}) {
    std::string note = feed.ask({"HGET", "f:taken", id});
    note.replace(note.find(' ') + 1, 13, "1732147200000");
    feed.ask({"HSET", "f:taken", id, note});
    feed.ask({"DEL", "feed.lease:f:" + id});
  }
  found = other.recover();
  CHECK(found.count == 2);
  CHECK(feed.queue() == "gone");
  CHECK(feed.ask({"HGET", "feed.cancelled:f", "gone"}) == "1");
  CHECK(feed.ask({"SMEMBERS", "feed.stalled:f"}) == "last");
  CHECK(feed.ask({"LRANGE", "f:runs", "0", "-1"}).find("\"stalled\":\"2 failed in a row") !=
        std::string::npos);
  CHECK(feed.ask({"ZRANGE", "feed.claimed:f", "0", "-1"}) == "foreign\nlive");
  CHECK(feed.host.settle(taken.claims[1], Finish{"{}"}));  // too late
  CHECK(feed.queue() == "gone");
  // A note without its claim counts for nothing.
  feed.ask({"ZADD", "feed.claimed:f", "1732147200001", "live"});
  CHECK(other.recover().count == 0);
  CHECK(feed.ask({"EXISTS", "f:taken"}) == "0");
}

TEST_CASE("a take whose answer was lost is undone, and nothing is counted") {
  JobPlace feed;
  feed.put("a");
  {
    JobHost gone(feed.loop, feed.server.url(), job_rule(), "gone");
    gone.take_one();
  }
  feed.ask({"SET", "x", "y"});
  JobHost host(feed.loop, feed.server.url(), job_rule());
  Recovery recovery(*host.session);
  const std::string note = feed.ask({"HGET", "f:taken", "a"});
  recovery.lost({note.substr(note.find("run:"))}, host.loop.now() + 1h);
  bool done = false;
  recovery.look(recover_call(FeedKeys("f"), *host.rule), [&](auto, auto) { done = true; });
  CHECK(turn_until(feed.loop, [&] { return done; }));
  CHECK(recovery.lost_takes() == 0);
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
  CHECK(feed.ask({"EXISTS", "feed.cancelled:f"}) == "0");
}

namespace {

/// A host whose commands time out soon, and which has lost the answer to a take of the feed f.
struct LosingJobHost : JobHost {
  explicit LosingJobHost(JobPlace& feed)
      : JobHost(feed.loop, feed.server.url(), job_rule(), "here", 400ms) {
    turn_until(loop, [&] { return session->client.connected(); });
    feed.server.pause();
    CHECK(take(1).end == ClaimEnd::unavailable);
    CHECK(queue->unsettled() == 1);
    feed.server.resume();
    // The loop does not turn meanwhile: nobody looks for it yet.
    for (int i = 0; i < 1000 && feed.ask({"ZCARD", "feed.claimed:f"}) != "1"; ++i) {
    }
  }
};

}  // namespace

TEST_CASE(
    "a take that was lost is undone where it was made, also if its list has another feed now") {
  JobPlace feed;
  feed.put("a");
  LosingJobHost host(feed);
  Rule other = job_rule();
  other.prefix = "g";
  host.rule = std::make_shared<const Rule>(other);
  host.queue->use(host.rule);
  CHECK(host.settled());
  CHECK(host.told.all_settled > 0);
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
}

TEST_CASE("a take that was lost is looked for again where Redis has refused that") {
  JobPlace feed;
  feed.put("a");
  LosingJobHost host(feed);
  feed.ask({"SET", "feed.stalled:f", "of a wrong type"});
  CHECK(turn_until(feed.loop, [&] {
    return feed.ask({"INFO", "errorstats"}).find("WRONGTYPE") != std::string::npos;
  }));
  CHECK(host.queue->unsettled() == 1);
  feed.ask({"DEL", "feed.stalled:f"});
  CHECK(host.settled());
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
}

TEST_CASE("a job that goes back to its queue by a command is heard of at once") {
  JobPlace feed;
  redis::ClientOptions options;
  options.url = redis::parse_url(feed.server.url());
  redis::SyncClient client(feed.loop, options);
  feed.ask({"SADD", "feeds", "f"});
  JobFeed jobs({client}, "f");
  feed.put("a");
  feed.host.queue->listen(true);
  REQUIRE(turn_until(feed.loop, [&] { return feed.host.told.backs > 1; }));
  const auto heard = [&](JobChange what) {
    feed.host.told.news = 0;
    CHECK(jobs.change(what, {"a"})[0].done);
    return turn_until(feed.loop, [&] { return feed.host.told.news > 0; });
  };
  jobs.get();
  CHECK(heard(JobChange::cancel));
  jobs.get();
  CHECK(jobs.change(JobChange::stall, {"a"})[0].done);
  CHECK(heard(JobChange::retry));
  CHECK(feed.host.told.news == 1);
}

TEST_CASE("ids that were nowhere twice go back to their queue, and no others") {
  JobPlace feed;
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  put_many(feed, 0, 3000);
  feed.put("claimed");
  feed.put("stalled");
  for (const char* id : {"claimed", "stalled", "7", "8", "2999"})
    feed.ask({"LREM", "feed.ids:f", "1", id});
  feed.ask({"ZADD", "feed.claimed:f", "1732147200000", "claimed"});
  feed.ask({"SADD", "feed.stalled:f", "stalled"});
  feed.ask({"HSET", "f:nowhere", "old", "1"});
  CHECK(carer.maintain().put_back == 0);
  CHECK(feed.ask({"HLEN", "f:nowhere"}) == "3");
  CHECK(std::stoll(feed.ask({"PTTL", "f:nowhere"})) > 0);
  CHECK(std::stoll(feed.ask({"PTTL", "f:maintained"})) > 50'000);
  // Its client has come to the second step of its claim.
  feed.ask({"ZADD", "feed.claimed:f", "1732147200000", "8"});
  CHECK(carer.maintain().put_back == 2);
  CHECK(feed.ask({"EXISTS", "f:nowhere"}) == "0");
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "2999");
  CHECK(feed.ask({"LPOS", "feed.ids:f", "7"}) != "(nil)");
  CHECK(carer.maintain().put_back == 0);
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "2999");
}

TEST_CASE("a job that is nowhere is found also where the counts agree by chance") {
  JobPlace feed;
  feed.put("lost");
  feed.ask({"DEL", "feed.ids:f"});
  feed.ask({"SADD", "feed.stalled:f", "ghost"});
  feed.ask({"HSET", "f:nowhere", "lost", "1"});  // as a whole look has noted it
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  CHECK(carer.maintain().put_back == 1);
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "1");
}

TEST_CASE("one host at a time maintains a feed, and a feed of another kind is told") {
  JobPlace feed;
  Carer here(feed.loop, feed.server.url(), job_rule(), "here");
  Carer there(feed.loop, feed.server.url(), job_rule(), "there");
  put_many(feed, 0, 10);
  feed.ask({"RPOP", "feed.ids:f"});
  here.maintain();
  const MaintenanceResult other = there.maintain();
  CHECK(other.other == "run:here:77:");
  CHECK(other.next.value() > 30s);
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "9");
  here.maintain();
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "10");
  feed.ask({"HSET", "feed.config:f", "type", "queue"});
  here.maintain();
  CHECK(here.trouble.find("the feed f is of the kind queue") == 0);
}

TEST_CASE("a claim without a lease is taken back after claim_timeout, whatever unit its time has") {
  Rule rule = job_rule();
  rule.max_failures = 2;
  rule.job().claim_timeout = 1h;
  JobPlace feed(rule);
  for (const char* id : {"live", "old", "seconds", "fresh", "last", "retracted"}) feed.put(id);
  const Claim live = feed.host.take_one();
  REQUIRE(live.item == "live");
  feed.ask({"DEL", "feed.ids:f"});
  feed.ask({"HDEL", "feed.items:f", "retracted"});
  feed.ask({"HSET", "feed.cancelled:f", "last", "1"});
  const long long now = std::stoll(feed.ask({"TIME"}));
  const auto claim = [&](const char* id, const std::string& score) {
    feed.ask({"ZADD", "feed.claimed:f", score, id});
  };
  claim("old", std::to_string((now - 3700) * 1000));
  claim("seconds", std::to_string(now - 3700) + ".25");
  claim("fresh", std::to_string((now - 3000) * 1000));
  claim("last", std::to_string((now - 3700) * 1000));
  claim("retracted", std::to_string(now * 1000));
  Carer carer(feed.loop, feed.server.url(), rule, "there");
  CHECK(carer.maintain().taken_back == 3);
  CHECK(feed.ask({"ZRANGE", "feed.claimed:f", "0", "-1"}) == "fresh\nlive");
  CHECK(feed.ask({"SORT", "feed.ids:f", "ALPHA"}) == "old\nseconds");
  CHECK(feed.ask({"SMEMBERS", "feed.stalled:f"}) == "last");
  CHECK(feed.ask({"HGET", "feed.cancelled:f", "old"}) == "1");
  CHECK(feed.host.settle(live, Finish{"{}"}));
  CHECK(feed.ask({"GET", "feed.finishes:f"}) == "1");
  // Never, where it is 0.
  rule.job().claim_timeout = 0s;
  Carer patient(feed.loop, feed.server.url(), rule, "there");
  claim("fresh", "1");
  CHECK(patient.maintain().taken_back == 0);
}

TEST_CASE("an ACL that has no more than w8y-security(7) says lets jobs be worked on") {
  Rule rule = job_rule();
  rule.fleet_concurrency = 10;
  rule.max_failures = 2;
  JobPlace feed(rule);
  feed.ask({"ACL",
            "SETUSER",
            "some",
            "reset",
            "on",
            "nopass",
            "resetchannels",
            "-@all",
            "~f:*",
            "&f:*",
            "&__keyspace@0__:f:*",
            "+ping",
            "+info",
            "+client|setname",
            "+subscribe",
            "+unsubscribe",
            "+publish",
            "+eval",
            "+evalsha",
            "+time",
            "+exists",
            "+get",
            "+getrange",
            "+set",
            "+del",
            "+pttl",
            "+pexpire",
            "+llen",
            "+lrange",
            "+lpos",
            "+lmove",
            "+rpush",
            "+hlen",
            "+hmget",
            "+hset",
            "+hdel",
            "+hexists",
            "+hincrby",
            "+hrandfield",
            "+hscan",
            "+ltrim",
            "+zmscore",
            "+incrby",
            "+zadd",
            "+zrem",
            "+zcard",
            "+zrange",
            "+zremrangebyscore",
            "~feed.*:f",
            "~feed.lease:f:*",
            "&job.finish:f",
            "&__keyspace@0__:feed.ids:f",
            "+type",
            "+hget",
            "+hstrlen",
            "+zscore",
            "+sismember",
            "+sadd",
            "+srem",
            "+scard",
            "+lindex",
            "+rpop",
            "+lpush"});
  feed.ask({"HSET", "feed.config:f", "type", "job"});
  std::string url = feed.server.url();
  url.insert(std::string("unix://").size(), "some:x@");
  JobHost host(feed.loop, url, rule);
  for (int i = 0; i < 6; ++i) feed.put(std::to_string(i));
  feed.ask({"SADD", "feed.stalled:f", "none"});
  const TakeReply reply = host.take(9);
  REQUIRE(reply.claims.size() == 6);
  host.end(reply.claims[0], Finish{"{}"});
  host.end(reply.claims[1], Cancel{50ms}, Failed{"no"});
  host.end(reply.claims[2], Stall{"why"}, Failed{"no"});
  host.end(reply.claims[3], Requeue{}, Cancelled{true});
  host.end(reply.claims[4], PutBack{}, Cancelled{});
  host.end(reply.claims[5], Leave{}, Lost{});
  CHECK(host.settled());
  CHECK(turn_until(feed.loop, [&] { return feed.ask({"LLEN", "feed.ids:f"}) == "3"; }));
  CHECK(host.settled());
  CHECK(feed.ask({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.ask({"LLEN", "f:runs"}) == "6");
  host.recover();
  feed.ask({"DEL", "feed.stalled:f"});
  feed.ask({"HDEL", "feed.items:f", "2"});
  feed.ask({"LREM", "feed.ids:f", "1", "1"});
  Carer carer(feed.loop, url, rule, "here");
  carer.maintain();
  CHECK(carer.trouble.empty());
  CHECK(carer.maintain().put_back == 1);
  CHECK(host.told.unwritten.empty());
}

}  // namespace job_care_test
