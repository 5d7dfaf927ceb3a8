// Recovery of jobs of a feed whose holder is gone, on a real server.
#include <doctest/doctest.h>

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

namespace job_care_test {

/// Host that has started to care for its feed.
struct CaringHost : JobCareHandler {
  CaringHost(loop::Loop& loop, const std::string& url, const std::string& feed = "f")
      : care(open_link(loop, url, "carer"), *this) {
    ListConfig rule = job_rule();
    rule.prefix = feed;
    care.use(std::make_shared<const ListConfig>(std::move(rule)));
    care.recover();
    turn_until(loop, [&] { return recovered; });
  }
  void on_recovered(std::optional<Duration>) override { recovered = true; }
  void on_maintained(const MaintenanceResult&, const std::string&) override {}
  void on_back() override {}

  bool recovered = false;
  RedisJobCare care;
};

TEST_CASE("a job of a dead host is recovered when its lease has expired, and never before") {
  ListConfig rule = job_rule(1h);  // the holder must not renew the leases that this test ends
  rule.max_failures = 2;
  JobFixture feed(rule);
  feed.put("live");
  feed.put("gone");
  feed.put("last");
  feed.put("foreign");
  feed.command({"HSET", "feed.cancelled:f", "last", "1"});
  const ClaimReply taken = feed.host.claim(3);
  REQUIRE(taken.claims.size() == 3);
  // Claimed as by a client that writes no lease.
  feed.command({"RPOP", "feed.ids:f"});
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "foreign"});
  JobHost other(feed.loop, feed.server.url(), rule, "there");
  JobHost::Recovered found = other.recover();
  CHECK(found.count == 0);
  CHECK(found.next.value() > 30s);
  // Only the key of the lease is gone, as after a failover: its holder may be alive.
  feed.command({"DEL", "feed.lease:f:gone"});
  CHECK(other.recover().count == 0);
  for (const std::string id : {"gone", "last"}) {
    std::string note = feed.command({"HGET", "f:claims", id});
    note.replace(note.find(' ') + 1, 13, "1732147200000");
    note.replace(note.find(" n "), 3, " - ");  // it was renewed
    feed.command({"HSET", "f:claims", id, note});
    feed.command({"DEL", "feed.lease:f:" + id});
  }
  found = other.recover();
  CHECK(found.count == 2);
  CHECK(feed.queue() == "gone");
  CHECK(feed.command({"HGET", "feed.cancelled:f", "gone"}) == "1");
  CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "last");
  const std::string records = feed.command({"LRANGE", "f:runs", "0", "-1"});
  CHECK(
      records.find("\"stalled\":\"2 consecutive failures, the last: interrupted: host here died") !=
      std::string::npos);
  CHECK(records.find("\"item\":\"gone\"") != std::string::npos);
  CHECK(records.find(
            "\"outcome\":\"lost\",\"attempt\":1,\"reason\":\"interrupted: host here died\"}") !=
        std::string::npos);
  CHECK(feed.command({"HGET", "f:kept-runs", "last"}).find("interrupted") != std::string::npos);
  CHECK(feed.command({"HLEN", "f:kept-runs"}) == "1");
  CHECK(feed.command({"ZRANGE", "feed.claimed:f", "0", "-1"}) == "foreign\nlive");
  CHECK(feed.host.settle(taken.claims[1], Finish{"{}"}));  // too late
  CHECK(feed.queue() == "gone");
  // A claim record without its claim is ignored.
  feed.command({"ZADD", "feed.claimed:f", "1732147200001", "live"});
  CHECK(other.recover().count == 0);
  CHECK(feed.command({"EXISTS", "f:claims"}) == "0");
}

TEST_CASE("a host creates the feed of its list, and a feed of another type stays") {
  JobFixture feed;
  feed.command({"DEL", "feed.config:f", "feeds"});
  CaringHost first(feed.loop, feed.server.url());
  CHECK(feed.command({"HGET", "feed.config:f", "type"}) == "job");
  CHECK(feed.command({"SMEMBERS", "feeds"}) == "f");
  for (const bool is_named : {true, false}) {
    feed.command({"HSET", "feed.config:f", "type", "queue"});
    if (!is_named) feed.command({"DEL", "feeds"});
    CaringHost other(feed.loop, feed.server.url());
    CHECK(feed.command({"HGET", "feed.config:f", "type"}) == "queue");
    CHECK(feed.command({"SCARD", "feeds"}) == (is_named ? "1" : "0"));
  }
}

TEST_CASE("a host creates the feed of its list in two steps in a cluster") {
  const Cluster cluster;
  loop::Loop loop;
  const CaringHost host(loop, cluster.url(), "{f}eed");
  redis::SyncClient client(loop, options_for(cluster.url()));
  CHECK(turn_until(loop, [&] {
    return client.call({"SISMEMBER", "feeds", "{f}eed"}).number == 1;
  }));
  CHECK(client.call({"HGET", "feed.config:{f}eed", "type"}).text == "job");
}

TEST_CASE("a claim that its host never renewed is recovered and counts no failure") {
  ListConfig rule = job_rule();
  rule.max_failures = 1;
  JobFixture feed(rule);
  feed.put("unheard");
  feed.put("begun");
  REQUIRE(feed.host.claim(2).claims.size() == 2);
  const auto claim_note_of = [&](const std::string& id) {
    return feed.command({"HGET", "f:claims", id});
  };
  const std::string unheard = claim_note_of("unheard");
  CHECK(unheard.find(" n ") != std::string::npos);
  // Both are renewed soon. Then one record is set back, as if its host had not received the claim.
  CHECK(turn_until(feed.loop,
                   [&] { return claim_note_of("begun").find(" - ") != std::string::npos; }));
  feed.command({"HSET", "f:claims", "unheard", unheard});
  JobHost other(feed.loop, feed.server.url(), rule, "there");
  for (const std::string id : {"unheard", "begun"}) {
    std::string note = claim_note_of(id);
    note.replace(note.find(' ') + 1, 13, "1732147200000");
    feed.command({"HSET", "f:claims", id, note});
    feed.command({"DEL", "feed.lease:f:" + id});
  }
  CHECK(other.recover().count == 2);
  CHECK(feed.queue() == "unheard");
  CHECK(feed.command({"HEXISTS", "feed.cancelled:f", "unheard"}) == "0");
  CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "begun");
  CHECK(feed.command({"LRANGE", "f:runs", "0", "-1"}).find(R"("list":"f")") != std::string::npos);
}

namespace {

/// Undoes the recorded claim of the job a as if its reply was lost.
void undo_claim_of_a(JobFixture& feed, JobHost& host) {
  const std::string note = feed.command({"HGET", "f:claims", "a"});
  host.session->in_doubt_claims.undo(
      recover_call(FeedKeys("f"), *host.rule)
          .with({"0", InDoubtClaims::most_examined, note.substr(note.find("run:"))}),
      feed.loop.now() + 1h);
  CHECK(turn_until(feed.loop, [&] { return host.session->in_doubt_claims.size() == 0; }));
}

}  // namespace

TEST_CASE("an in-doubt claim of a job of a feed is undone and counts no failure") {
  JobFixture feed;
  feed.put("a");
  {
    JobHost gone(feed.loop, feed.server.url(), job_rule(), "gone");
    gone.claim_one_job();
  }
  feed.command({"SET", "x", "y"});
  JobHost host(feed.loop, feed.server.url(), job_rule());
  undo_claim_of_a(feed, host);
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
  CHECK(feed.command({"EXISTS", "feed.cancelled:f"}) == "0");
}

TEST_CASE("a job that cannot be returned to its queue keeps its fleet slot") {
  ListConfig rule = job_rule();
  rule.fleet_concurrency = 1;
  JobFixture feed(rule);
  feed.put("a");
  {
    JobHost gone(feed.loop, feed.server.url(), rule, "gone");
    REQUIRE(gone.claim_one_job().item == "a");
  }
  feed.command({"ACL", "SETUSER", "default", "-rpush"});
  undo_claim_of_a(feed, feed.host);
  CHECK(feed.command({"ZCARD", "feed.claimed:f"}) == "1");
  CHECK(feed.command({"ZCARD", "f:slots"}) == "1");
  feed.command({"ACL", "SETUSER", "default", "+rpush"});
  undo_claim_of_a(feed, feed.host);
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
  CHECK(feed.command({"ZCARD", "f:slots"}) == "0");
}

namespace {

/// Host whose commands time out after 400 ms, with an in-doubt claim from the feed f.
struct LosingJobHost : JobHost {
  explicit LosingJobHost(JobFixture& feed)
      : JobHost(feed.loop, feed.server.url(), job_rule(), "here", 400ms) {
    turn_until(loop, [&] { return session->client.connected(); });
    feed.server.pause();
    CHECK(claim(1).end == ClaimEnd::unavailable);
    CHECK(session->in_doubt_claims.size() == 1);
    feed.server.resume();
    // The loop does not run meanwhile, so that the host does not search for the claim yet.
    for (int i = 0; i < 1000 && feed.command({"ZCARD", "feed.claimed:f"}) != "1"; ++i) {
    }
  }
};

}  // namespace

TEST_CASE("an in-doubt claim is undone in its feed, even if its list has another feed now") {
  JobFixture feed;
  feed.put("a");
  LosingJobHost host(feed);
  ListConfig other = job_rule();
  other.prefix = "g";
  host.rule = std::make_shared<const ListConfig>(other);
  host.queue->use(host.rule);
  CHECK(turn_until(feed.loop, [&] { return host.session->in_doubt_claims.size() == 0; }));
  CHECK(feed.unclaimed());
  CHECK(feed.queue() == "a");
}

TEST_CASE("a subcommand that returns a job to its queue notifies hosts at once") {
  JobFixture feed;
  redis::ClientOptions options;
  options.url = redis::parse_url(feed.server.url());
  redis::SyncClient client(feed.loop, options);
  feed.command({"SADD", "feeds", "f"});
  JobFeed jobs({client}, "f");
  feed.put("a");
  feed.host.queue->listen(true);
  REQUIRE(turn_until(feed.loop, [&] { return feed.host.reported.backs > 1; }));
  const auto heard = [&](JobChange what) {
    feed.host.reported.news = 0;
    CHECK(jobs.change(what, {"a"})[0].done);
    return turn_until(feed.loop, [&] { return feed.host.reported.news > 0; });
  };
  jobs.get();
  CHECK(heard(JobChange::cancel));
  jobs.get();
  CHECK(jobs.change(JobChange::stall, {"a"})[0].done);
  CHECK(heard(JobChange::retry));
  CHECK(feed.host.reported.news == 1);
}

TEST_CASE("the queue of a feed stays tracked when a run ends") {
  JobFixture feed;
  feed.put("a");
  const Claim claim = feed.host.claim_one_job();
  CHECK(feed.host.claim().claims.empty());
  feed.host.queue->listen(true);
  REQUIRE(turn_until(feed.loop, [&] { return feed.host.reported.backs > 1; }));
  const auto tracked = [&] {
    (void)feed.host.queue->track();
    turn_for(feed.loop, 5ms);
    return feed.host.queue->hears();
  };
  CHECK(turn_until(feed.loop, tracked));
  CHECK(feed.host.settle(claim, store::thoonk::Finish{}));
  turn_for(feed.loop, 20ms);
  CHECK(feed.host.queue->hears());
  feed.host.reported.news = 0;
  feed.command({"LPUSH", "feed.ids:f", "b"});  // by a client that sends no message
  CHECK(turn_until(feed.loop, [&] { return feed.host.reported.news > 0; }));
}

}  // namespace job_care_test
