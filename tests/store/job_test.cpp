// Claims, leases and settlements of jobs of a feed on a real server, beside clients that follow
// Thoonk's contract.
#include <doctest/doctest.h>

#include "store/job_host.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::store::thoonk;

namespace job_test {

TEST_CASE("a job is popped and claimed in one step, and finished with its result") {
  JobFixture feed;
  std::vector<std::string> heard;
  bool ready = false;
  const auto hears = feed.host.session->subscriber.subscribe(
      "job.finish:f", [&](auto, auto message) { heard.emplace_back(message); },
      [&] { ready = true; });
  REQUIRE(turn_until(feed.loop, [&] { return ready; }));
  feed.put("a", "first");
  feed.put("b", "second");
  feed.put("h", "high", true);
  const Claim claim = feed.host.claim_one_job();
  CHECK(claim.item == "h");
  CHECK(claim.call.id == "h");
  CHECK(claim.call.input == "high");
  CHECK(claim.attempt == 1);
  CHECK(feed.command({"GET", "f:fence"}) == std::to_string(claim.fence.value()));
  CHECK(feed.queue() == "b\na");
  const std::string lease = "run:here:77:" + claim.run;
  CHECK(feed.command({"GET", "feed.lease:f:h"}) == lease);
  CHECK(std::stoi(feed.command({"PTTL", "feed.lease:f:h"})) > 40'000);
  const std::string score = feed.command({"ZSCORE", "feed.claimed:f", "h"});
  CHECK(score.size() == 13);
  const std::string note = feed.command({"HGET", "f:claims", "h"});
  CHECK(note.starts_with(score + " "));
  CHECK(note.ends_with(" n " + lease));
  CHECK(feed.host.queue->may_start(claim));

  CHECK(feed.host.settle(claim, Finish{R"({"x":1})"}));
  CHECK(feed.unclaimed());
  CHECK(feed.command({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.command({"HEXISTS", "feed.items:f", "h"}) == "0");
  CHECK(feed.command({"ZSCORE", "feed.published:f", "h"}) == "(nil)");
  CHECK(turn_until(feed.loop, [&] { return !heard.empty(); }));
  CHECK(heard.front() == std::string("h\0{\"x\":1}", 9));
  CHECK(feed.command({"LRANGE", "f:runs", "0", "-1"}).find("succeeded") != std::string::npos);
  CHECK(feed.ids_of(feed.host.claim(9)) == std::vector<Item>{"a", "b"});
}

TEST_CASE("a settlement is sent at once, but waits for the reply to a claim in flight") {
  JobFixture feed;
  for (const char* id : {"a", "b", "c"}) feed.put(id);
  const auto sent = [&] { return feed.host.session->client.commands_sent(); };
  const Claim first = feed.host.claim_one_job();
  auto before = sent();
  feed.host.end(first, Finish{"{}"});
  CHECK(sent() - before == 1);
  CHECK(feed.host.settled());

  const Claim second = feed.host.claim_one_job();
  feed.host.queue->claim(1);
  before = sent();
  feed.host.end(second, Finish{"{}"});
  CHECK(sent() == before);
  const auto replies = [&] { return feed.host.reported.claim_replies.size(); };
  REQUIRE(turn_until(feed.loop, [&] { return replies() == 3; }));
  const Claim third = feed.host.reported.claim_replies.back().claims.front();
  feed.host.queue->claim(1);
  CHECK(sent() - before == 2);
  // No claim follows a claim that found nothing.
  feed.host.end(third, Finish{"{}"});
  CHECK(sent() - before == 2);
  REQUIRE(turn_until(feed.loop, [&] { return replies() == 4; }));
  CHECK(sent() - before == 3);
  CHECK(feed.host.settled());
  CHECK(feed.unclaimed());
}

TEST_CASE("ids and payloads are bytes, and one claim returns only a few long payloads") {
  JobFixture feed;
  const std::string id = "a b\n\r\"\xff";
  feed.put(id, std::string("\0\n\xff", 3));
  feed.put("empty", "");
  ClaimReply reply = feed.host.claim(5);
  REQUIRE(feed.ids_of(reply) == std::vector<Item>{id, "empty"});
  CHECK(reply.claims[0].call.input == std::string("\0\n\xff", 3));
  CHECK(reply.claims[1].call.input->empty());
  for (const Claim& claim : reply.claims) CHECK(feed.host.settle(claim, Finish{"{}"}));
  CHECK(feed.unclaimed());

  feed.put("large", std::string(16 << 20, 'x'));
  feed.put("too", std::string((16 << 20) + 1, 'x'));
  for (int i = 0; i < 3; ++i) feed.put("m" + std::to_string(i), std::string(600 << 10, 'x'));
  reply = feed.host.claim(5);
  REQUIRE(feed.ids_of(reply) == std::vector<Item>{"large"});
  CHECK(reply.end == ClaimEnd::more);
  CHECK(reply.claims[0].call.input->size() == 16 << 20);
  reply = feed.host.claim(5);
  CHECK(feed.ids_of(reply) == std::vector<Item>{"m0", "m1"});
  REQUIRE(reply.parked.size() == 1);
  CHECK(reply.parked[0].item.beginning == "too");
  CHECK(reply.parked[0].why.starts_with("its payload is longer than 16 MiB"));
  CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "too");
}

TEST_CASE("a feed has any name, and two feeds whose leases share a key are kept apart") {
  JobFixture feed;
  const auto host_of = [&feed](const std::string& name, Duration expiry = 60s) {
    ListConfig rule = job_rule(expiry);
    rule.prefix = name;
    return std::make_unique<JobHost>(feed.loop, feed.server.url(), rule);
  };
  const auto put = [&feed](const std::string& name, const std::string& id) {
    feed.command({"LPUSH", "feed.ids:" + name, id});
    feed.command({"HSET", "feed.items:" + name, id, "p"});
  };
  for (const std::string& name : {std::string("a b"), std::string(":"), std::string("nul\0x", 5),
                                  std::string("new\nline"), std::string("\xff")}) {
    CAPTURE(name);
    put(name, "new\nline");
    const auto host = host_of(name);
    const Claim claim = host->claim_one_job();
    CHECK(claim.item == "new\nline");
    CHECK(host->settle(claim, Finish{"{}"}));
    CHECK(feed.command({"GET", "feed.finishes:" + name}) == "1");
  }
  // The value of the lease names its holder, and F:claims has the valid claim.
  const auto first = host_of("a", 3s);
  const auto second = host_of("a:b");
  put("a", "b:c");
  put("a:b", "c");
  const Claim one = first->claim_one_job();
  const Claim other = second->claim_one_job();
  CHECK(feed.command({"GET", "feed.lease:a:b:c"}) == "run:here:77:" + other.run);
  CHECK(turn_until(feed.loop, [&] { return first->reported.lost == std::vector<RunId>{one.run}; }));
  CHECK(first->settle(one, Finish{"{}"}));
  CHECK(feed.command({"GET", "feed.finishes:a"}) == "1");
  CHECK(feed.command({"EXISTS", "feed.finishes:a:b"}) == "0");
  CHECK(second->settle(other, Finish{"{}"}));
  CHECK(feed.command({"GET", "feed.finishes:a:b"}) == "1");
  CHECK(feed.command({"EXISTS", "feed.items:a", "feed.items:a:b", "feed.claimed:a",
                      "feed.claimed:a:b", "a:claims", "a:b:claims", "feed.lease:a:b:c"}) == "0");
}

TEST_CASE("one call claims at most 128 jobs of a feed") {
  JobFixture feed;
  for (int i = 0; i < 130; ++i) feed.put(std::to_string(i));
  CHECK(feed.host.claim(200).claims.size() == 128);
  const ClaimReply rest = feed.host.claim(200);
  CHECK(rest.claims.size() == 2);
  CHECK(rest.end == ClaimEnd::empty);
  CHECK(feed.host.claim(1).end == ClaimEnd::empty);
}

TEST_CASE("the ids of missing, claimed, stalled or duplicate jobs leave the queue without a run") {
  JobFixture feed;
  for (const char* id : {"retracted", "claimed", "stalled", "twice", "good"}) feed.put(id);
  feed.command({"HDEL", "feed.items:f", "retracted"});
  feed.command({"ZADD", "feed.claimed:f", "1732147200000", "claimed"});
  feed.command({"SADD", "feed.stalled:f", "stalled"});
  feed.command({"LPUSH", "feed.ids:f", "twice"});
  const ClaimReply reply = feed.host.claim(9);
  CHECK(feed.ids_of(reply) == std::vector<Item>{"twice", "good"});
  CHECK(feed.queue().empty());
  CHECK(feed.command({"ZSCORE", "feed.claimed:f", "claimed"}) == "1732147200000");
  CHECK(feed.host.settle(reply.claims[0], Finish{"{}"}));
  CHECK(feed.command({"HEXISTS", "feed.items:f", "twice"}) == "0");
}

TEST_CASE("a missing feed is empty, a feed without a kind is served, and other kinds are refused") {
  JobFixture feed;
  CHECK(feed.host.claim().end == ClaimEnd::empty);
  feed.put("a");
  for (const char* kind : {"queue", "feed", "sorted_feed", "odd\nkind"}) {
    feed.command({"HSET", "feed.config:f", "type", kind});
    const ClaimReply reply = feed.host.claim();
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(reply.detail.find("the feed f is of the kind ") == 0);
    CHECK(reply.detail.find("source = \"job\" needs a feed of the kind job") != std::string::npos);
  }
  feed.command({"HSET", "feed.config:f", "type", "job"});
  CHECK(feed.host.claim().claims.size() == 1);
  for (const std::string key : {"feed.claimed:f", "f:claims", "feed.stalled:f", "feed.config:f"}) {
    CAPTURE(key);
    feed.command({"FLUSHALL"});
    feed.put("a");
    feed.command({"SET", key, "a string"});
    const ClaimReply refused = feed.host.claim();
    CHECK(refused.end == ClaimEnd::refused);
    CHECK(refused.detail.find("the key " + key + " is a string") != std::string::npos);
    CHECK(feed.queue() == "a");
  }
}

TEST_CASE("a pause and fleet_concurrency keep jobs in their queue") {
  ListConfig rule = job_rule();
  rule.fleet_concurrency = 1;
  JobFixture feed(rule);
  feed.put("a");
  feed.put("b");
  feed.command({"SET", "f:paused", "new disks", "EX", "60"});
  const ClaimReply paused = feed.host.claim();
  CHECK(paused.end == ClaimEnd::paused);
  CHECK(paused.detail == "new disks");
  feed.command({"DEL", "f:paused"});
  const ClaimReply first = feed.host.claim(2);
  CHECK(first.claims.size() == 1);
  CHECK(first.end == ClaimEnd::fleet_full);
  CHECK(feed.host.claim().end == ClaimEnd::fleet_full);
  // A delayed job has no fleet slot.
  CHECK(feed.host.settle(first.claims[0], Cancel{60s}, Failed{"no"}));
  CHECK(feed.command({"ZCARD", "f:slots"}) == "0");
  CHECK(feed.host.claim(2).claims.size() == 1);
}

TEST_CASE("a failed run delays its job, with claim and lease, and then cancels it") {
  JobFixture feed(job_rule(1s));
  feed.put("a");
  feed.put("b");
  const Claim claim = feed.host.claim_one_job();
  feed.host.end(claim, Cancel{1500ms}, Failed{"no"});
  CHECK(feed.host.settled());
  CHECK(feed.command({"LLEN", "f:runs"}) == "1");
  CHECK(feed.command({"HGET", "feed.cancelled:f", "a"}) == "(nil)");
  CHECK(feed.command({"HGET", "f:claims", "a"}).find(" r1") != std::string::npos);
  // The delay is longer than the lease, which is therefore renewed.
  CHECK(turn_until(feed.loop, [&] {
    return feed.command({"HGET", "feed.cancelled:f", "a"}) == "1";
  }));
  CHECK(feed.host.settled());
  CHECK(feed.queue() == "a\nb");
  CHECK(feed.unclaimed());
  CHECK(feed.host.reported.lost.empty());
  feed.host.settle(feed.host.claim_one_job(), Finish{"{}"});
  const Claim again = feed.host.claim_one_job();
  CHECK(again.item == "a");
  CHECK(again.attempt == 2);
  // Without a backoff, the job is cancelled at once.
  CHECK(feed.host.settle(again, Cancel{}, Failed{"no"}));
  CHECK(feed.command({"HGET", "feed.cancelled:f", "a"}) == "2");
  CHECK(feed.unclaimed());
}

TEST_CASE("delayed jobs are cancelled when the list is retired, and at once beyond their limit") {
  JobFixture feed;
  const std::size_t jobs = JobQueue::most_held_back + 3;
  std::vector<std::string> ids{"LPUSH", "feed.ids:f"};
  std::vector<std::string> items{"HSET", "feed.items:f"};
  for (std::size_t i = 0; i < jobs; ++i) {
    ids.push_back(std::to_string(i));
    items.push_back(ids.back());
    items.push_back("x");
  }
  feed.command(ids);
  feed.command(items);
  for (std::size_t held = 0; held < jobs;) {
    const ClaimReply reply = feed.host.claim(jobs);
    for (const Claim& claim : reply.claims) feed.host.end(claim, Cancel{1h}, Failed{"no"});
    held += reply.claims.size();
  }
  CHECK(feed.host.settled());
  CHECK(feed.command({"ZCARD", "feed.claimed:f"}) == std::to_string(JobQueue::most_held_back));
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == "3");
  feed.host.queue->retire();
  CHECK(feed.host.queue->unsettled() == JobQueue::most_held_back);
  CHECK(feed.host.settled());
  CHECK(feed.command({"LLEN", "feed.ids:f"}) == std::to_string(jobs));
  CHECK(feed.command({"HLEN", "feed.cancelled:f"}) == std::to_string(jobs));
  CHECK(feed.unclaimed());
  CHECK(feed.host.reported.all_settled > 0);
}

TEST_CASE("a job that is handed back, requeued or stalled counts no failure") {
  JobFixture feed;
  feed.put("a");
  feed.put("b");
  feed.command({"HSET", "feed.cancelled:f", "a", "2", "b", "2"});
  Claim claim = feed.host.claim_one_job();
  CHECK(claim.attempt == 3);
  CHECK(feed.host.settle(claim, PutBack{}, Cancelled{}));
  CHECK(feed.queue() == "b\na");
  feed.host.queue->hand_back(feed.host.claim_one_job());
  CHECK(feed.host.settled());
  CHECK(feed.queue() == "b\na");
  CHECK(feed.host.settle(feed.host.claim_one_job(), Requeue{}, Cancelled{true}));
  CHECK(feed.queue() == "a\nb");
  CHECK(feed.command({"HMGET", "feed.cancelled:f", "a", "b"}) == "2\n2");
  CHECK(feed.unclaimed());

  CHECK(feed.host.settle(feed.host.claim_one_job(), Stall{"3 consecutive failures, the last: no"},
                         Failed{"no"}));
  CHECK(feed.unclaimed());
  CHECK(feed.command({"SMEMBERS", "feed.stalled:f"}) == "b");
  CHECK(feed.command({"HEXISTS", "feed.cancelled:f", "b"}) == "0");
  CHECK(feed.command({"ZSCORE", "feed.published:f", "b"}) == "(nil)");
  CHECK(feed.command({"HGET", "feed.items:f", "b"}) == "p");
  CHECK(feed.host.reported.quarantined ==
        std::vector<std::string>{"b: 3 consecutive failures, the last: no"});
  CHECK(
      feed.command({"LRANGE", "f:runs", "0", "-1"}).find("\"stalled\":\"3 consecutive failures") !=
      std::string::npos);
  CHECK(feed.command({"HGET", "f:kept-runs", "b"}).find("\"reason\":\"no\"") != std::string::npos);

  // A command to stall the job is carried out, unless the run has finished the job.
  claim = feed.host.claim_one_job();
  std::string note = feed.command({"HGET", "f:claims", "a"});
  feed.command({"HSET", "f:claims", "a", note.replace(note.find(" n "), 3, " q ")});
  CHECK(feed.host.settle(claim, Requeue{}, Cancelled{true}));
  CHECK(feed.command({"SISMEMBER", "feed.stalled:f", "a"}) == "1");
  CHECK(feed.unclaimed());
}

TEST_CASE(
    "a run without its lease changes nothing, and does not settle the claim of another host") {
  JobFixture feed;
  JobHost other(feed.loop, feed.server.url(), job_rule(), "there");
  feed.put("a");
  const Claim ours = feed.host.claim_one_job();
  CHECK(feed.host.settle(ours, Leave{}, Lost{}));
  CHECK(feed.command({"ZCARD", "feed.claimed:f"}) == "1");
  CHECK(feed.queue().empty());
  feed.command({"FLUSHALL"});
  feed.put("a");
  const Claim first = feed.host.claim_one_job();
  // A client cancels the job, and another host claims it.
  feed.command({"ZREM", "feed.claimed:f", "a"});
  feed.command({"LPUSH", "feed.ids:f", "a"});
  const Claim second = other.claim_one_job();
  REQUIRE(second.item == "a");
  CHECK(feed.command({"GET", "feed.lease:f:a"}) == "run:there:77:" + second.run);
  for (const JobDisposition& what : {JobDisposition(Finish{"{}"}), JobDisposition(Cancel{})}) {
    CHECK(feed.host.settle(first, what));
    CHECK(feed.command({"HGET", "feed.items:f", "a"}) == "p");
    CHECK(feed.command({"GET", "feed.lease:f:a"}) == "run:there:77:" + second.run);
    CHECK(feed.command({"EXISTS", "feed.finishes:f", "feed.cancelled:f"}) == "0");
  }
  CHECK(other.settle(second, Finish{"{}"}));
  CHECK(feed.command({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.unclaimed());
}

TEST_CASE("a lease is lost when its claim is cancelled or its feed deleted, and leaves no key") {
  JobFixture feed(job_rule(1s));
  feed.put("cancelled");
  feed.put("kept");
  feed.put("expired");
  const ClaimReply reply = feed.host.claim(3);
  REQUIRE(reply.claims.size() == 3);
  feed.command({"ZREM", "feed.claimed:f", "cancelled"});
  CHECK(turn_until(feed.loop, [&] { return !feed.host.reported.lost.empty(); }));
  CHECK(feed.host.reported.lost == std::vector<RunId>{reply.claims[0].run});
  // A missing lease is regained while this host has the claim.
  feed.command({"DEL", "feed.lease:f:expired"});
  CHECK(turn_until(feed.loop, [&] {
    return feed.command({"EXISTS", "feed.lease:f:expired"}) == "1";
  }));
  CHECK(feed.host.reported.lost.size() == 1);
  for (const std::string key : {"config", "ids", "items", "published", "claimed", "cancelled"})
    feed.command({"DEL", "feed." + key + ":f"});
  feed.command({"DEL", "f:claims", "feed.lease:f:kept", "feed.lease:f:expired"});
  CHECK(turn_until(feed.loop, [&] { return feed.host.reported.lost.size() == 3; }));
  for (const Claim& claim : reply.claims) CHECK(feed.host.settle(claim, Finish{"{}"}));
  CHECK(feed.command({"KEYS", "feed.*"}).empty());
  CHECK(feed.command({"EXISTS", "f:claims"}) == "0");
  CHECK(feed.command({"LLEN", "f:runs"}) == "3");
}

TEST_CASE("an ACL that forbids a step of a claim loses no job") {
  JobFixture feed;
  feed.put("a");
  for (const char* command : {"-zadd", "-hset", "-rpop", "-set", "-hmget", "-zmscore"}) {
    CAPTURE(command);
    feed.command({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", command});
    std::string url = feed.server.url();
    url.insert(std::string("unix://").size(), "some:x@");
    JobHost host(feed.loop, url, job_rule());
    const ClaimReply reply = host.claim();
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(feed.queue() == "a");
    CHECK(feed.unclaimed());
  }
}

TEST_CASE(
    "an ACL that forbids a step of a finish leaves the job claimed until it is finished once") {
  for (const char* command : {"hdel", "zrem"}) {
    CAPTURE(command);
    JobFixture feed;
    feed.put("a");
    feed.command({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all"});
    std::string url = feed.server.url();
    url.insert(std::string("unix://").size(), "some:x@");
    JobHost host(feed.loop, url, job_rule());
    const ClaimReply reply = host.claim();
    REQUIRE(reply.claims.size() == 1);
    feed.command({"ACL", "SETUSER", "some", std::string("-") + command});
    const std::string none = feed.command({"ACL", "LOG", "1"});
    host.end(reply.claims[0], Finish{"{}"});
    CHECK(turn_until(feed.loop, [&] { return feed.command({"ACL", "LOG", "1"}) != none; }));
    CHECK(feed.command({"ZCARD", "feed.claimed:f"}) == "1");
    CHECK(feed.command({"HLEN", "feed.items:f"}) == "1");
    CHECK(feed.command({"GET", "feed.finishes:f"}) == "(nil)");
    feed.command({"ACL", "SETUSER", "some", std::string("+") + command});
    CHECK(host.settled());
    CHECK(feed.command({"GET", "feed.finishes:f"}) == "1");
    CHECK(feed.command({"EXISTS", "feed.items:f", "feed.claimed:f", "feed.ids:f", "f:claims"}) ==
          "0");
  }
}

}  // namespace job_test
