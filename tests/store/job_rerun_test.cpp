// Tests of jobs that are put again while the feed has them: their payloads, claims by hosts and by
// other clients, and maintenance.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "operator/feed_directory.hpp"
#include "operator/job_feeds.hpp"
#include "store/job_host.hpp"
#include "store/scripts.hpp"
#include "support/client_options.hpp"

using namespace w8y;
using namespace w8y::test;
using store::thoonk::Cancel, store::thoonk::Finish, store::thoonk::Stall;
using verbs::JobChange, verbs::JobFeed, verbs::PutAs;

namespace job_rerun_test {
namespace {

/// Feed with a host, and a client without leases that follows Thoonk's contract.
struct Place : JobFixture {
  Place() : client(loop, options_for(server.url())), jobs({client, false}, "f") {
    verbs::FeedDirectory({client, false}).create("f", verbs::FeedKind::job, std::nullopt);
    command({"SET", "feed.finishes:f", "7"});
  }
  PutAs rerun(const std::string& payload, std::optional<Duration> keep = std::chrono::hours(1)) {
    return jobs.put_one({"a", payload, false, false, keep, true});
  }
  std::string payload(const std::string& id = "a") const {
    return command({"HGET", "feed.items:f", id});
  }
  bool has_reruns() const { return command({"EXISTS", "f:reruns", "f:rerun-claims"}) != "0"; }
  store::thoonk::MaintenanceResult maintain() {
    return jobs.maintain({.who = "an operator", .interval = std::chrono::seconds(1)});
  }
  void claim_elsewhere(const std::string& id = "a") const {
    command({"LREM", "feed.ids:f", "1", id});
    command({"ZADD", "feed.claimed:f", "1732147200000", id});
  }
  void finish_elsewhere(const std::string& id = "a") const {
    retract_elsewhere(id);
    command({"INCR", "feed.finishes:f"});
  }
  void return_elsewhere() const {
    command({"ZREM", "feed.claimed:f", "a"});
    command({"HINCRBY", "feed.cancelled:f", "a", "1"});
    command({"LPUSH", "feed.ids:f", "a"});
  }
  void retract_elsewhere(const std::string& id = "a") const {
    for (const char* key : {"feed.claimed:f", "feed.published:f"}) command({"ZREM", key, id});
    command({"HDEL", "feed.items:f", id});
  }
  /// Claims `count` jobs elsewhere, and puts each again with a payload of this length.
  void put_claimed(int count, int length) const {
    command({"EVAL",
             "local payload = string.rep('x', ARGV[2]) for i = 1, ARGV[1] do "
             "redis.call('HSET', KEYS[1], i, 'old') redis.call('ZADD', KEYS[2], 1732147200000, i) "
             "redis.call('HSET', KEYS[3], i, ' ' .. payload) "
             "redis.call('HSET', KEYS[4], i, '1732147200000 7') end",
             "4", "feed.items:f", "feed.claimed:f", "f:reruns", "f:rerun-claims",
             std::to_string(count), std::to_string(length)});
  }
  bool sends_more(unsigned calls) {
    const auto before = host.session->client.commands_sent();
    return turn_until(loop, [&] { return host.session->client.commands_sent() >= before + calls; });
  }

  redis::SyncClient client;
  JobFeed jobs;
};

}  // namespace

TEST_CASE(
    "a rerun puts a job that the feed does not have, and replaces the payload of a queued one") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  CHECK(at.rerun("2", std::nullopt) == PutAs::replaced);
  CHECK(at.payload() == "2");
  CHECK(at.queue() == "a");
  CHECK(at.command({"EXISTS", "f:keep"}) == "0");
  CHECK_FALSE(at.has_reruns());
  CHECK(at.command({"GET", "feed.publishes:f"}) == "1");
}

TEST_CASE("a job that is put again during its run is queued when the run succeeds, once") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  CHECK(at.rerun("2") == PutAs::runs_again);
  CHECK(at.rerun("3") == PutAs::runs_again);
  CHECK(at.payload() == "3");
  CHECK(at.command({"HGET", "f:reruns", "a"}) == "3600000 3");
  CHECK(at.host.settle(claim, Finish{"first"}));
  CHECK(at.queue() == "a");
  CHECK(at.payload() == "3");
  CHECK_FALSE(at.has_reruns());
  CHECK(at.command({"EXISTS", "feed.claimed:f", "f:claims", "feed.result:f:a"}) == "0");
  CHECK(at.jobs.state("a")->state == "queued");
  const Claim next = at.host.claim_one_job();
  CHECK(next.call.input == "3");
  CHECK(at.host.settle(next, Finish{"second"}));
  CHECK(at.jobs.state("a")->end->result == "second");
  CHECK(at.queue().empty());
  CHECK(at.command({"GET", "feed.finishes:f"}) == "9");
  CHECK(at.command({"GET", "feed.publishes:f"}) == "2");
}

TEST_CASE("the next attempt gets the payload that was put during a run that fails") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  CHECK(at.rerun("2") == PutAs::runs_again);
  SUBCASE("the job is queued again") {
    CHECK(at.host.settle(claim, Cancel{}, Failed{"x"}));
    CHECK(at.queue() == "a");
    CHECK(at.command({"HGET", "feed.cancelled:f", "a"}) == "1");
  }
  SUBCASE("the job is stalled") {
    CHECK(at.host.settle(claim, Stall{"x"}, Failed{"x"}));
    CHECK(at.rerun("3") == PutAs::is_stalled);
  }
  SUBCASE("an operator has cancelled the claim") {
    CHECK(at.jobs.change(JobChange::cancel, {"a"})[0].done);
    CHECK(at.host.settle(claim, Finish{"too late"}));
    CHECK(at.queue() == "a");
  }
  CHECK(at.payload() == "2");
  CHECK_FALSE(at.has_reruns());
}

TEST_CASE("a retracted job does not run again") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  CHECK(at.rerun("2") == PutAs::runs_again);
  SUBCASE("retracted by w8y") {
    CHECK(at.jobs.change(JobChange::retract, {"a"})[0].done);
    CHECK_FALSE(at.has_reruns());
    CHECK(at.host.settle(claim, Finish{"x"}));
  }
  SUBCASE("retracted by another client") {
    at.retract_elsewhere();
  }
  SUBCASE("another client deletes its feed") {
    at.command({"DEL", "feed.items:f", "feed.claimed:f", "feed.published:f", "feed.finishes:f"});
  }
  at.maintain();
  CHECK(at.queue().empty());
  CHECK(at.command({"EXISTS", "feed.items:f"}) == "0");
  CHECK_FALSE(at.has_reruns());
}

TEST_CASE("maintenance puts a job again that a client without a lease has finished") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  at.claim_elsewhere();
  CHECK(at.rerun("2") == PutAs::runs_again);
  at.maintain();
  CHECK(at.queue().empty());
  SUBCASE("finished") {
    at.finish_elsewhere();
  }
  SUBCASE("returned to its queue") {
    at.return_elsewhere();
  }
  SUBCASE("renewed, then finished") {
    at.command({"ZADD", "feed.claimed:f", "1732147260000", "a"});
    at.maintain();
    at.finish_elsewhere();
  }
  at.maintain();
  CHECK(at.payload() == "2");
  CHECK(at.queue() == "a");
  CHECK(at.command({"HGET", "f:keep", "a"}) == "3600000");
  CHECK_FALSE(at.has_reruns());
}

TEST_CASE("a finish by an operator returns a job that was put again to its queue") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  at.claim_elsewhere();
  CHECK(at.rerun("2") == PutAs::runs_again);
  CHECK(at.jobs.change(JobChange::finish, {"a"})[0].done);
  CHECK(at.queue() == "a");
  CHECK(at.payload() == "2");
  CHECK_FALSE(at.has_reruns());
  at.claim_elsewhere();
  CHECK(at.jobs.change(JobChange::finish, {"a"})[0].done);
  CHECK(at.command({"EXISTS", "feed.items:f"}) == "0");
}

TEST_CASE("an earlier payload never replaces a later one") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  at.claim_elsewhere();
  CHECK(at.rerun("2") == PutAs::runs_again);
  SUBCASE("the job is returned and put again") {
    at.return_elsewhere();
    CHECK(at.rerun("3") == PutAs::replaced);
    CHECK_FALSE(at.has_reruns());
  }
  SUBCASE("the job is returned, put again and claimed by a host") {
    at.return_elsewhere();
    CHECK(at.rerun("3") == PutAs::replaced);
    const Claim claim = at.host.claim_one_job();
    CHECK(claim.call.input == "3");
    at.maintain();
    CHECK(at.payload() == "3");
    CHECK(at.host.settle(claim, Finish{"x"}));
    CHECK(at.queue().empty());
    return;
  }
  SUBCASE("the job is finished, and another client publishes it again") {
    at.finish_elsewhere();
    at.put("a", "3");
  }
  at.maintain();
  CHECK(at.payload() == "3");
  CHECK(at.queue() == "a");
  CHECK_FALSE(at.has_reruns());
}

TEST_CASE("a claim after the put gets the new payload, and its finish removes the job") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  at.claim_elsewhere();
  CHECK(at.rerun("2") == PutAs::runs_again);
  at.return_elsewhere();
  const Claim claim = at.host.claim_one_job();
  CHECK(claim.call.input == "2");
  SUBCASE("no maintenance runs") {}
  SUBCASE("maintenance runs") {
    at.maintain();
    CHECK_FALSE(at.has_reruns());
  }
  CHECK(at.host.settle(claim, Finish{"x"}));
  CHECK_FALSE(at.has_reruns());
  at.maintain();
  CHECK(at.queue().empty());
  CHECK(at.command({"EXISTS", "feed.items:f"}) == "0");
}

TEST_CASE("a refused settlement of a job that was put again can be repeated") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  CHECK(at.rerun("2") == PutAs::runs_again);
  SUBCASE("the counter is invalid") {
    at.command({"SET", "feed.finishes:f", "abc"});
  }
  SUBCASE("the queue is of a wrong type") {
    at.command({"SET", "feed.ids:f", "of a wrong type"});
  }
  at.host.end(claim, Finish{"x"});
  CHECK(at.sends_more(4));
  CHECK(at.host.queue->unsettled() == 1);
  CHECK(at.command({"ZCARD", "feed.claimed:f"}) == "1");
  CHECK(at.command({"EXISTS", "f:rerun-claims"}) == "1");
  if (at.command({"TYPE", "feed.ids:f"}) == "string") {
    CHECK(at.command({"GET", "feed.finishes:f"}) == "7");
    at.command({"DEL", "feed.ids:f"});
  } else {
    CHECK(at.queue().empty());
    at.command({"SET", "feed.finishes:f", "7"});
  }
  CHECK(at.host.settled());
  CHECK(at.queue() == "a");
  CHECK(at.command({"GET", "feed.finishes:f"}) == "8");
}

TEST_CASE("a job with a request to stall is stalled with the payload of a later put") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  const auto stall = [&] {
    CHECK(at.client
              .run(store::scripts::job_stall_at_end, {"f:claims", "feed.claimed:f"},
                   {"a", claim.run.str()})
              .number == 1);
  };
  SUBCASE("requested before the put") {
    stall();
    CHECK(at.rerun("2") == PutAs::runs_again);
  }
  SUBCASE("requested after the put") {
    CHECK(at.rerun("2") == PutAs::runs_again);
    stall();
  }
  CHECK(at.host.settle(claim, Finish{"x"}));
  CHECK(at.queue().empty());
  CHECK(at.command({"SMEMBERS", "feed.stalled:f"}) == "a");
  CHECK(at.payload() == "2");
  CHECK(at.command({"GET", "feed.finishes:f"}) == "8");
  CHECK(at.jobs.state("a")->state == "stalled");
  CHECK_FALSE(at.has_reruns());
}

TEST_CASE("maintenance finds each finished job among many that wait") {
  Place at;
  at.put_claimed(1200, 10);
  for (int i = 1; i <= 1200; i += 30) at.finish_elsewhere(std::to_string(i));
  at.maintain();
  CHECK(at.command({"LLEN", "feed.ids:f"}) == "40");
  CHECK(at.payload("31") == std::string(10, 'x'));
  CHECK(at.command({"HLEN", "f:reruns"}) == "1160");
  CHECK(at.command({"HLEN", "f:rerun-claims"}) == "1160");
}

TEST_CASE("maintenance does not read waiting payloads, and moves long payloads one by one") {
  Place at;
  constexpr int megabyte = 1 << 20;
  at.put_claimed(40, megabyte);
  const auto peak = [&] {
    const std::string info = at.command({"INFO", "memory"});
    return std::stoll(info.substr(info.find("used_memory_peak:") + 17));
  };
  for (int i = 1; i <= 3; ++i) at.finish_elsewhere(std::to_string(i));
  const long long before = peak();
  at.maintain();
  CHECK(peak() - before < 12LL * megabyte);
  CHECK(at.command({"LLEN", "feed.ids:f"}) == "3");
  CHECK(at.command({"HSTRLEN", "feed.items:f", "3"}) == std::to_string(megabyte));
  CHECK(at.command({"HLEN", "f:reruns"}) == "37");
}

TEST_CASE("a rerun key of a wrong type makes a put fail, and maintenance ignores it") {
  Place at;
  CHECK(at.rerun("1") == PutAs::added);
  const Claim claim = at.host.claim_one_job();
  std::string key;
  SUBCASE("payloads") {
    key = "f:reruns";
  }
  SUBCASE("claims") {
    key = "f:rerun-claims";
  }
  at.command({"SET", key, "of a wrong type"});
  try {
    at.rerun("2");
    FAIL("no error");
  } catch (const redis::RedisError& error) {
    CHECK(std::string(error.what()).find("the key " + key + " is a string") != std::string::npos);
  }
  CHECK(at.payload() == "1");
  CHECK(at.host.settle(claim, Finish{"x"}));
  CHECK(at.command({"EXISTS", "feed.items:f"}) == "0");
  at.command({"HSET", "feed.items:f", "orphan", "p"});
  at.maintain();
  CHECK(at.maintain().put_back == 1);
  CHECK(at.queue() == "orphan");
}

TEST_CASE("maintenance deletes payloads whose entries are lost") {
  Place at;
  at.put_claimed(3, 10);
  at.command({"DEL", "f:rerun-claims"});
  at.maintain();
  CHECK_FALSE(at.has_reruns());
  CHECK(at.payload("1") == "old");
}

}  // namespace job_rerun_test
