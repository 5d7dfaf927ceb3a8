// Maintenance of a feed of jobs on a real server: orphaned jobs, claims without a lease, and
// entries of jobs that no longer exist.
#include <doctest/doctest.h>

#include "core/job_settings.hpp"
#include "operator/job_feeds.hpp"
#include "store/job_host.hpp"
#include "store/thoonk/redis_job_care.hpp"
#include "support/client_options.hpp"
#include "support/cluster.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;
using namespace w8y::store::thoonk;

namespace job_maintain_test {
namespace {

/// Host that maintains the feed.
struct Carer : JobCareHandler {
  Carer(loop::Loop& shared, const std::string& url, const ListConfig& rule, const std::string& name)
      : loop(shared), care(open_link(shared, url, name), *this) {
    care.use(std::make_shared<const ListConfig>(rule));
  }
  void on_recovered(std::optional<Duration>) override {}
  void on_maintained(const MaintenanceResult& result, const std::string& why) override {
    results.push_back(result);
    error = why;
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
  std::string error;
  RedisJobCare care;
};

/// Puts jobs whose ids are the numbers from `first` to `last` - 1.
void put_many(const JobFixture& feed, int first, int last) {
  std::vector<std::string> ids{"LPUSH", "feed.ids:f"};
  std::vector<std::string> items{"HSET", "feed.items:f"};
  for (int i = first; i < last; ++i) {
    ids.push_back(std::to_string(i));
    items.push_back(ids.back());
    items.push_back("payload");
  }
  feed.command(ids);
  feed.command(items);
}

}  // namespace

TEST_CASE("jobs that are orphaned in two scans return to their queue, and no other jobs") {
  JobFixture feed;
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  put_many(feed, 0, 3000);
  feed.put("claimed");
  feed.put("stalled");
  for (const char* id : {"claimed", "stalled", "7", "8", "2999"})
    feed.command({"LREM", "feed.ids:f", "1", id});
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "claimed"});
  feed.command({"SADD", "feed.stalled:f", "stalled"});
  feed.command({"HSET", "f:orphaned", "old", "1"});
  CHECK(carer.maintain().put_back == 0);
  CHECK(feed.command({"HLEN", "f:orphaned"}) == "3");
  CHECK(std::stoll(feed.command({"PTTL", "f:orphaned"})) > 0);
  CHECK(std::stoll(feed.command({"PTTL", "f:maintained"})) > 50'000);
  // The client that has claimed job 8 makes the second step of its claim.
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "8"});
  CHECK(carer.maintain().put_back == 2);
  CHECK(feed.command({"EXISTS", "f:orphaned"}) == "0");
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "2999");
  CHECK(feed.command({"LPOS", "feed.ids:f", "7"}) != "(nil)");
  CHECK(carer.maintain().put_back == 0);
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "2999");
}

TEST_CASE("an orphaned job is found even if the counts agree by chance") {
  JobFixture feed;
  feed.put("lost");
  feed.command({"DEL", "feed.ids:f"});
  feed.command({"SADD", "feed.stalled:f", "ghost"});
  feed.command({"HSET", "f:orphaned", "lost", "1"});  // as a full scan has recorded it
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  CHECK(carer.maintain().put_back == 1);
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "1");
}

TEST_CASE("one host at a time maintains a feed, and a feed of another kind is reported") {
  JobFixture feed;
  Carer here(feed.loop, feed.server.url(), job_rule(), "here");
  Carer there(feed.loop, feed.server.url(), job_rule(), "there");
  put_many(feed, 0, 10);
  feed.command({"RPOP", "feed.ids:f"});
  here.maintain();
  const MaintenanceResult other = there.maintain();
  CHECK(other.other == "run:here:77:");
  CHECK(other.next.value() > 30s);
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "9");
  here.maintain();
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "10");
  feed.command({"HSET", "feed.config:f", "type", "queue"});
  here.maintain();
  CHECK(here.error.find("the feed f is of the kind queue") == 0);
}

TEST_CASE("a claim without a lease is recovered after claim_timeout, in any unit of its time") {
  ListConfig rule = job_rule();
  rule.max_failures = 2;
  rule.job().claim_timeout = 1h;
  JobFixture feed(rule);
  for (const char* id : {"live", "old", "seconds", "fresh", "last", "retracted"}) feed.put(id);
  const Claim live = feed.host.claim_one_job();
  REQUIRE(live.item == "live");
  feed.command({"DEL", "feed.ids:f"});
  feed.command({"HDEL", "feed.items:f", "retracted"});
  feed.command({"HSET", "feed.cancelled:f", "last", "1"});
  const long long now = std::stoll(feed.command({"TIME"}));
  const auto claim = [&](const char* id, const std::string& score) {
    feed.command({"ZADD", "feed.claimed:f", score, id});
  };
  claim("old", std::to_string((now - 3700) * 1000));
  claim("seconds", std::to_string(now - 3700) + ".25");
  claim("fresh", std::to_string((now - 3000) * 1000));
  claim("last", std::to_string((now - 3700) * 1000));
  claim("retracted", std::to_string(now * 1000));
  Carer carer(feed.loop, feed.server.url(), rule, "there");
  CHECK(carer.maintain().taken_back == 3);
  CHECK(feed.command({"ZRANGE", "feed.claimed:f", "0", "-1"}) == "fresh\nlive");
  CHECK(feed.command({"SORT", "feed.ids:f", "ALPHA"}) == "old\nseconds");
  CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "last");
  CHECK(feed.command({"HGET", "feed.cancelled:f", "old"}) == "1");
  CHECK(feed.host.settle(live, Finish{"{}"}));
  CHECK(feed.command({"GET", "feed.finishes:f"}) == "1");
  // If claim_timeout is 0, claims without a lease are never recovered.
  rule.job().claim_timeout = 0s;
  Carer patient(feed.loop, feed.server.url(), rule, "there");
  claim("fresh", "1");
  CHECK(patient.maintain().taken_back == 0);
}

TEST_CASE("maintenance deletes and reports entries of missing jobs, and keeps other entries") {
  JobFixture feed;
  put_many(feed, 0, 600);
  feed.command({"EVAL",
                "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, i - 1) "
                "redis.call('ZADD', KEYS[1], i, 'gone' .. i) end "
                "for i = 1, ARGV[1] do redis.call('HSET', KEYS[2], 'gone' .. i, 1) "
                "redis.call('SADD', KEYS[3], 'gone' .. i) end",
                "3", "feed.published:f", "feed.cancelled:f", "feed.stalled:f", "600"});
  for (const char* id : {"5", "6"}) feed.command({"LREM", "feed.ids:f", "1", id});
  feed.command({"SADD", "feed.stalled:f", "5"});
  feed.command({"ZREM", "feed.published:f", "5"});
  feed.command({"HSET", "feed.cancelled:f", "6", "2", "7", "1"});
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "6", "1732147200000", "gone1"});
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  const auto is_recovered = [&feed] {
    CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "5");
    CHECK(feed.command({"HGETALL", "feed.cancelled:f"}).size() == std::string("6\n2\n7\n1").size());
    CHECK(feed.command({"ZRANGE", "feed.claimed:f", "0", "-1"}) == "6");
    CHECK(feed.command({"ZCARD", "feed.published:f"}) == "599");
    CHECK(feed.command({"LLEN", "feed.ids:f"}) == "598");
  };
  const MaintenanceResult result = carer.maintain();
  CHECK(carer.error.empty());
  CHECK(result.claimed == 1);
  CHECK(result.stalled == 600);
  CHECK(result.cancelled == 600);
  CHECK(result.published == 600);
  CHECK(result.taken_back + result.put_back + result.nowhere == 0);
  is_recovered();
  // An entry that another client leaves is deleted without waiting for a full scan.
  feed.command({"ZADD", "feed.published:f", "1", "gone"});
  CHECK(carer.maintain().published == 1);
  is_recovered();
}

TEST_CASE("a claim of w8yd whose job is gone leaves no key after its lease has expired") {
  JobFixture feed;
  feed.put("a");
  {
    JobHost gone(feed.loop, feed.server.url(), job_rule(), "gone");
    gone.claim_one_job();
  }
  std::string note = feed.command({"HGET", "f:claims", "a"});
  note.replace(note.find(' ') + 1, 13, "1732147200000");
  note.replace(note.find(" n "), 3, " - ");  // it was renewed
  feed.command({"HSET", "f:claims", "a", note});
  feed.command({"DEL", "feed.lease:f:a", "feed.items:f"});
  redis::ClientOptions options;
  options.url = redis::parse_url(feed.server.url());
  redis::SyncClient client(feed.loop, options);
  feed.command({"SADD", "feeds", "f"});
  JobFeed jobs({client}, "f");
  const MaintenanceResult result = jobs.maintain({"we", 0, HistoryLimits::none(), {}, 1min, false});
  CHECK(result.taken_back == 1);
  CHECK(result.cancelled == 1);
  CHECK(result.published == 1);
  CHECK_FALSE(jobs.get());
  CHECK(feed.command({"KEYS", "feed.[^c]*:f"}).empty());
  CHECK(feed.command({"EXISTS", "feed.claimed:f", "feed.cancelled:f", "f:claims"}) == "0");
}

TEST_CASE("a host publishes the numbers of jobs after each search") {
  ListConfig rule = job_rule();
  rule.job().maintenance_feed = "ops";
  JobFixture feed(rule);
  feed.put("waits");
  feed.put("claimed");
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "claimed"});
  feed.command({"LREM", "feed.ids:f", "1", "claimed"});
  feed.command({"HSET", "feed.items:f", "orphan", "{}"});
  Carer carer(feed.loop, feed.server.url(), rule, "here");
  carer.maintain();
  CHECK(carer.error == "");
  CHECK(feed.command({"HGET", "feed.config:ops", "type"}) == "feed");
  CHECK(feed.command({"HGET", "feed.config:ops", "max_length"}) == "1000");
  CHECK(feed.command({"SISMEMBER", "feeds", "ops"}) == "1");
  const std::string id = feed.command({"ZRANGE", "feed.ids:ops", "0", "-1"});
  CHECK(id.ends_with("-f"));
  const std::string text = feed.command({"HGET", "feed.items:ops", id});
  CHECK(text.starts_with(R"({"list":"f","time_ms":)"));
  CHECK(text.ends_with(R"("queued":1,"claimed":1,"stalled":0,"recovered":0,"orphaned":1})"));
  carer.maintain();
  CHECK(feed.command({"ZCARD", "feed.ids:ops"}) == "2");
  CHECK(feed.command({"GET", "feed.publishes:ops"}) == "2");
  // Another host runs the search, and publishes its numbers.
  Carer other(feed.loop, feed.server.url(), rule, "there");
  CHECK(!other.maintain().other.empty());
  CHECK(feed.command({"ZCARD", "feed.ids:ops"}) == "2");
  feed.command({"HSET", "feed.config:ops", "type", "queue"});
  carer.maintain();
  CHECK(carer.error ==
        "the feed ops is of the kind queue, but maintenance_feed needs a feed of the kind feed");
  CHECK(feed.command({"HGET", "feed.config:ops", "type"}) == "queue");
}

TEST_CASE("a host publishes the numbers of jobs in a cluster") {
  const Cluster cluster;
  loop::Loop loop;
  ListConfig rule = job_rule();
  rule.prefix = "{f}eed";
  rule.job().maintenance_feed = "{o}ps";
  Carer carer(loop, cluster.url(), rule, "here");
  carer.maintain();
  CHECK(carer.error == "");
  redis::SyncClient client(loop, options_for(cluster.url()));
  CHECK(turn_until(loop, [&] { return client.call({"SISMEMBER", "feeds", "{o}ps"}).number == 1; }));
  CHECK(client.call({"ZCARD", "feed.ids:{o}ps"}).number == 1);
}

TEST_CASE("an ACL with no more than the permissions in w8y-security(7) permits all work on jobs") {
  ListConfig rule = job_rule();
  rule.fleet_concurrency = 10;
  rule.max_failures = 2;
  JobFixture feed(rule);
  feed.command({"ACL",
                "SETUSER",
                "some",
                "reset",
                "on",
                "nopass",
                "resetchannels",
                "-@all",
                "~f:*",
                "&f:*",
                "&__redis__:invalidate",
                "+client|tracking",
                "+client|caching",
                "+client|id",
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
                "+zcount",
                "+zremrangebyrank",
                "+zremrangebyscore",
                "~feed.*:f",
                "~feed.lease:f:*",
                "~feed.result:f:*",
                "&job.finish:f",
                "~feeds",
                "&newfeed",
                "&conffeed",
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
                "+lpush",
                "+sscan",
                "+zscan",
                "~feed.*:ops",
                "&feed.*:ops",
                "+zrevrange"});
  feed.command({"HSET", "feed.config:f", "type", "job"});
  std::string url = feed.server.url();
  url.insert(std::string("unix://").size(), "some:x@");
  JobHost host(feed.loop, url, rule);
  for (int i = 0; i < 6; ++i) feed.put(std::to_string(i));
  feed.command({"HSET", "f:keep", "0", "60000", "2", "60000"});
  feed.command({"SADD", "feed.stalled:f", "none"});
  const ClaimReply reply = host.claim(9);
  REQUIRE(reply.claims.size() == 6);
  host.end(reply.claims[0], Finish{"{}"});
  host.end(reply.claims[1], Cancel{50ms}, Failed{"no"});
  host.end(reply.claims[2], Stall{"why"}, Failed{"no"});
  host.end(reply.claims[3], Requeue{}, Cancelled{true});
  host.end(reply.claims[4], PutBack{}, Cancelled{});
  host.end(reply.claims[5], Leave{}, Lost{});
  CHECK(host.settled());
  CHECK(turn_until(feed.loop, [&] { return feed.command({"LLEN", "feed.ids:f"}) == "3"; }));
  CHECK(host.settled());
  CHECK(feed.command({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.command({"LLEN", "f:runs"}) == "6");
  CHECK(feed.command({"HGET", "feed.result:f:0", "result"}) == "{}");
  CHECK(feed.command({"HGET", "feed.result:f:2", "reason"}) == "why");
  CHECK(std::stoi(feed.command({"PTTL", "feed.result:f:0"})) > 0);
  host.recover();
  feed.command({"DEL", "feed.stalled:f"});
  feed.command({"HDEL", "feed.items:f", "2"});
  feed.command({"LREM", "feed.ids:f", "1", "1"});
  rule.job().maintenance_feed = "ops";
  Carer carer(feed.loop, url, rule, "here");
  carer.maintain();
  CHECK(carer.error == "");
  CHECK(feed.command({"ZCARD", "feed.ids:ops"}) == "1");
  CHECK(carer.maintain().put_back == 1);
  CHECK(host.reported.unwritten.empty());
  // Jobs that are put again.
  feed.command({"SADD", "feeds", "f"});
  feed.command({"DEL", "feed.ids:f", "feed.items:f", "feed.publishes:f"});
  feed.command({"ACL", "LOG", "RESET"});
  redis::SyncClient client(feed.loop, options_for(feed.server.url()));
  JobFeed jobs({client}, "f");
  const auto put = [&jobs] { return jobs.put_one({"x", "p", false, false, {}, true}); };
  CHECK(put() == PutAs::added);
  const Claim claim = host.claim_one_job();
  CHECK(put() == PutAs::runs_again);
  CHECK(host.settle(claim, Finish{"{}"}));
  CHECK(feed.command({"LPOP", "feed.ids:f"}) == "x");
  feed.command({"ZADD", "feed.claimed:f", "1", "x"});
  CHECK(put() == PutAs::runs_again);
  feed.command({"ZREM", "feed.claimed:f", "x"});
  feed.command({"HDEL", "feed.items:f", "x"});
  feed.command({"INCR", "feed.finishes:f"});
  carer.maintain();
  CHECK(feed.queue() == "x");
  CHECK(feed.command({"GET", "feed.publishes:f"}) == "3");
  CHECK(feed.command({"ACL", "LOG"}).empty());
}

}  // namespace job_maintain_test
