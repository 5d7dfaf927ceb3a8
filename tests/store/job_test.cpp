// Jobs of a feed are claimed, held, ended and taken back on a real server, beside clients that
// follow Thoonk's contract.
#include <doctest/doctest.h>

#include "store/host.hpp"
#include "store/thoonk/redis_job_care.hpp"
#include "store/thoonk/redis_job_queue.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::store::thoonk;

namespace job_test {
namespace {

class JobsTold : public JobQueueHandler {
 public:
  void on_taken(TakeReply&& reply) override { takes.push_back(std::move(reply)); }
  void on_news() override { ++news; }
  void on_back() override { ++backs; }
  void on_lease_lost(const RunId& run) override { lost.push_back(run); }
  void on_lease_back(const RunId& run) override { back.push_back(run); }
  void on_lease_expiring(const RunId&) override {}
  void on_parked(const ShownItem& job, const std::string& why) override {
    parked.push_back(job.beginning + ": " + why);
  }
  void on_unwritten(const std::string& why) override { unwritten.push_back(why); }
  void on_all_settled() override { ++all_settled; }

  std::vector<std::string> unwritten;
  std::vector<TakeReply> takes;
  std::vector<RunId> lost;
  std::vector<RunId> back;
  std::vector<std::string> parked;
  int news = 0;
  int backs = 0;
  int all_settled = 0;
};

Rule job_rule(Duration expiry = 60s) {
  Rule rule = list_rule("f");
  rule.source = JobSettings{};
  rule.key_expiry = expiry;
  return rule;
}

struct JobHost {
  JobHost(loop::Loop& shared, const std::string& url, Rule settings,
          const std::string& name = "here")
      : loop(shared),
        session(open_link(shared, url, name)),
        queue(std::make_unique<RedisJobQueue>(session, told)),
        rule(std::make_shared<const Rule>(std::move(settings))) {
    queue->use(rule);
  }
  TakeReply take(std::size_t wanted = 1) {
    const std::size_t before = told.takes.size();
    queue->take(wanted);
    turn_until(loop, [&] { return told.takes.size() > before; });
    return told.takes.empty() ? TakeReply{} : told.takes.back();
  }
  Claim take_one() {
    const TakeReply reply = take(1);
    return reply.claims.empty() ? Claim{} : reply.claims.front();
  }
  void end(const Claim& claim, JobDisposition what, Outcome outcome = Succeeded{}) {
    JobSettlement settlement{{claim, rule, std::move(outcome), {}, WallTime(1000), WallTime(2000)},
                             std::move(what)};
    settlement.end.process = Exited{0};
    queue->settle(std::move(settlement));
  }
  bool settled() {
    return turn_until(loop, [&] { return queue->unsettled() == 0; });
  }
  bool settle(const Claim& claim, JobDisposition what, Outcome outcome = Succeeded{}) {
    end(claim, std::move(what), std::move(outcome));
    return settled();
  }
  struct Recovered {
    std::size_t count = 0;
    std::optional<Duration> next;
  };
  Recovered recover() {
    Recovery recovery(*session);
    std::optional<Recovered> done;
    recovery.look(recover_call(FeedKeys(rule->prefix), *rule),
                  [&](std::size_t count, std::optional<Duration> next) {
                    done = Recovered{count, next};
                  });
    turn_until(loop, [&] { return done.has_value(); });
    return done.value_or(Recovered{});
  }

  loop::Loop& loop;
  JobsTold told;
  std::shared_ptr<RedisSession> session;
  std::unique_ptr<RedisJobQueue> queue;
  RulePtr rule;
};

struct Feed {
  explicit Feed(Rule rule = job_rule()) : host(loop, server.url(), std::move(rule)) {}
  std::string ask(const std::vector<std::string>& words) const { return server.ask(words); }
  /// As a client puts it that follows the contract.
  void put(const std::string& id, const std::string& payload = "p", bool high = false) const {
    ask({high ? "RPUSH" : "LPUSH", "feed.ids:f", id});
    ask({"HSET", "feed.items:f", id, payload});
    ask({"ZADD", "feed.published:f", "1732147200000", id});
  }
  std::vector<Item> ids_of(const TakeReply& reply) const {
    std::vector<Item> ids;
    for (const Claim& claim : reply.claims) ids.push_back(claim.item);
    return ids;
  }
  std::string queue() const { return ask({"LRANGE", "feed.ids:f", "0", "-1"}); }
  /// Nothing is left of a claim.
  bool unclaimed() const {
    return ask({"ZCARD", "feed.claimed:f"}) == "0" && ask({"HLEN", "f:taken"}) == "0" &&
           ask({"KEYS", "feed.lease:f:*"}).empty();
  }

  RedisServer server;
  loop::Loop loop;
  JobHost host;
};

}  // namespace

TEST_CASE("a job is popped and claimed in one step, and finished with its result") {
  Feed feed;
  std::vector<std::string> heard;
  bool ready = false;
  const auto hears = feed.host.session->subscriber.subscribe(
      "job.finish:f", [&](auto, auto message) { heard.emplace_back(message); },
      [&] { ready = true; });
  REQUIRE(turn_until(feed.loop, [&] { return ready; }));
  feed.put("a", "first");
  feed.put("b", "second");
  feed.put("h", "high", true);
  const Claim claim = feed.host.take_one();
  CHECK(claim.item == "h");
  CHECK(claim.call.id == "h");
  CHECK(claim.call.input == "high");
  CHECK(claim.attempt == 1);
  CHECK(feed.ask({"GET", "f:fence"}) == std::to_string(claim.fence.value()));
  CHECK(feed.queue() == "b\na");
  const std::string lease = "run:here:77:" + claim.run;
  CHECK(feed.ask({"GET", "feed.lease:f:h"}) == lease);
  CHECK(std::stoi(feed.ask({"PTTL", "feed.lease:f:h"})) > 40'000);
  const std::string score = feed.ask({"ZSCORE", "feed.claimed:f", "h"});
  CHECK(score.size() == 13);
  const std::string note = feed.ask({"HGET", "f:taken", "h"});
  CHECK(note.starts_with(score + " "));
  CHECK(note.ends_with(" - " + lease));
  CHECK(feed.host.queue->may_start(claim));

  CHECK(feed.host.settle(claim, Finish{R"({"x":1})"}));
  CHECK(feed.unclaimed());
  CHECK(feed.ask({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.ask({"HEXISTS", "feed.items:f", "h"}) == "0");
  CHECK(feed.ask({"ZSCORE", "feed.published:f", "h"}) == "(nil)");
  CHECK(turn_until(feed.loop, [&] { return !heard.empty(); }));
  CHECK(heard.front() == std::string("h\0{\"x\":1}", 9));
  CHECK(feed.ask({"XRANGE", "f:runs", "-", "+"}).find("succeeded") != std::string::npos);
  CHECK(feed.ids_of(feed.host.take(9)) == std::vector<Item>{"a", "b"});
}

TEST_CASE("ids and payloads are any bytes, and long ones come a few at a time") {
  Feed feed;
  const std::string id = "a b\n\r\"\xff";
  feed.put(id, std::string("\0\n\xff", 3));
  feed.put("empty", "");
  TakeReply reply = feed.host.take(5);
  REQUIRE(feed.ids_of(reply) == std::vector<Item>{id, "empty"});
  CHECK(reply.claims[0].call.input == std::string("\0\n\xff", 3));
  CHECK(reply.claims[1].call.input->empty());
  for (const Claim& claim : reply.claims) CHECK(feed.host.settle(claim, Finish{"{}"}));
  CHECK(feed.unclaimed());

  feed.put("large", std::string(16 << 20, 'x'));
  feed.put("too", std::string((16 << 20) + 1, 'x'));
  for (int i = 0; i < 3; ++i) feed.put("m" + std::to_string(i), std::string(600 << 10, 'x'));
  reply = feed.host.take(5);
  REQUIRE(feed.ids_of(reply) == std::vector<Item>{"large"});
  CHECK(reply.end == ClaimEnd::more);
  CHECK(reply.claims[0].call.input->size() == 16 << 20);
  reply = feed.host.take(5);
  CHECK(feed.ids_of(reply) == std::vector<Item>{"m0", "m1"});
  REQUIRE(reply.parked.size() == 1);
  CHECK(reply.parked[0].item.beginning == "too");
  CHECK(reply.parked[0].why.starts_with("its payload is longer than 16 MiB"));
  CHECK(feed.ask({"SMEMBERS", "feed.stalled:f"}) == "too");
}

TEST_CASE("more jobs than one call takes") {
  Feed feed;
  for (int i = 0; i < 130; ++i) feed.put(std::to_string(i));
  CHECK(feed.host.take(200).claims.size() == 128);
  const TakeReply rest = feed.host.take(200);
  CHECK(rest.claims.size() == 2);
  CHECK(rest.end == ClaimEnd::empty);
  CHECK(feed.host.take(1).end == ClaimEnd::empty);
}

TEST_CASE(
    "what is no job, is claimed, is stalled or is there twice leaves the queue without a run") {
  Feed feed;
  for (const char* id : {"retracted", "claimed", "stalled", "twice", "good"}) feed.put(id);
  feed.ask({"HDEL", "feed.items:f", "retracted"});
  feed.ask({"ZADD", "feed.claimed:f", "1732147200000", "claimed"});
  feed.ask({"SADD", "feed.stalled:f", "stalled"});
  feed.ask({"LPUSH", "feed.ids:f", "twice"});
  const TakeReply reply = feed.host.take(9);
  CHECK(feed.ids_of(reply) == std::vector<Item>{"twice", "good"});
  CHECK(feed.queue().empty());
  CHECK(feed.ask({"ZSCORE", "feed.claimed:f", "claimed"}) == "1732147200000");
  CHECK(feed.host.settle(reply.claims[0], Finish{"{}"}));
  CHECK(feed.ask({"HEXISTS", "feed.items:f", "twice"}) == "0");
}

TEST_CASE(
    "a feed that is not there is waited for, one without a kind is taken, others are refused") {
  Feed feed;
  CHECK(feed.host.take().end == ClaimEnd::empty);
  feed.put("a");
  for (const char* kind : {"queue", "feed", "sorted_feed", "odd\nkind"}) {
    feed.ask({"HSET", "feed.config:f", "type", kind});
    const TakeReply reply = feed.host.take();
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(reply.detail.find("the feed f is of the kind ") == 0);
    CHECK(reply.detail.find("source = \"job\" takes work from one of the kind job") !=
          std::string::npos);
  }
  feed.ask({"HSET", "feed.config:f", "type", "job"});
  CHECK(feed.host.take().claims.size() == 1);
  for (const std::string key : {"feed.claimed:f", "f:taken", "feed.stalled:f", "feed.config:f"}) {
    CAPTURE(key);
    feed.ask({"FLUSHALL"});
    feed.put("a");
    feed.ask({"SET", key, "a string"});
    const TakeReply refused = feed.host.take();
    CHECK(refused.end == ClaimEnd::refused);
    CHECK(refused.detail.find("the key " + key + " is a string") != std::string::npos);
    CHECK(feed.queue() == "a");
  }
}

TEST_CASE("a pause and the fleet's limit keep jobs in their queue") {
  Rule rule = job_rule();
  rule.fleet_concurrency = 1;
  Feed feed(rule);
  feed.put("a");
  feed.put("b");
  feed.ask({"SET", "f:paused", "new disks", "EX", "60"});
  const TakeReply paused = feed.host.take();
  CHECK(paused.end == ClaimEnd::paused);
  CHECK(paused.detail == "new disks");
  feed.ask({"DEL", "f:paused"});
  const TakeReply first = feed.host.take(2);
  CHECK(first.claims.size() == 1);
  CHECK(first.end == ClaimEnd::fleet_full);
  CHECK(feed.host.take().end == ClaimEnd::fleet_full);
  // A job that is held back has no place.
  CHECK(feed.host.settle(first.claims[0], Cancel{60s}, Failed{"no"}));
  CHECK(feed.ask({"ZCARD", "f:slots"}) == "0");
  CHECK(feed.host.take(2).claims.size() == 1);
}

TEST_CASE("a run that failed holds its job back, with claim and lease, and then cancels it") {
  Feed feed(job_rule(1s));
  feed.put("a");
  feed.put("b");
  const Claim claim = feed.host.take_one();
  feed.host.end(claim, Cancel{1500ms}, Failed{"no"});
  CHECK(feed.host.settled());
  CHECK(feed.ask({"XLEN", "f:runs"}) == "1");
  CHECK(feed.ask({"HGET", "feed.cancelled:f", "a"}) == "(nil)");
  CHECK(feed.ask({"HGET", "f:taken", "a"}).find(" r1") != std::string::npos);
  // Longer than the lease: it is renewed.
  CHECK(turn_until(feed.loop, [&] { return feed.ask({"HGET", "feed.cancelled:f", "a"}) == "1"; }));
  CHECK(feed.host.settled());
  CHECK(feed.queue() == "a\nb");
  CHECK(feed.unclaimed());
  CHECK(feed.host.told.lost.empty());
  feed.host.settle(feed.host.take_one(), Finish{"{}"});
  const Claim again = feed.host.take_one();
  CHECK(again.item == "a");
  CHECK(again.attempt == 2);
  // Without a backoff at once.
  CHECK(feed.host.settle(again, Cancel{}, Failed{"no"}));
  CHECK(feed.ask({"HGET", "feed.cancelled:f", "a"}) == "2");
  CHECK(feed.unclaimed());
}

TEST_CASE("what is held back is cancelled when the list goes, and beyond its bound at once") {
  Feed feed;
  const std::size_t jobs = JobQueue::most_held_back + 3;
  std::vector<std::string> ids{"LPUSH", "feed.ids:f"};
  std::vector<std::string> items{"HSET", "feed.items:f"};
  for (std::size_t i = 0; i < jobs; ++i) {
    ids.push_back(std::to_string(i));
    items.push_back(ids.back());
    items.push_back("x");
  }
  feed.ask(ids);
  feed.ask(items);
  for (std::size_t held = 0; held < jobs;) {
    const TakeReply reply = feed.host.take(jobs);
    for (const Claim& claim : reply.claims) feed.host.end(claim, Cancel{1h}, Failed{"no"});
    held += reply.claims.size();
  }
  CHECK(feed.host.settled());
  CHECK(feed.ask({"ZCARD", "feed.claimed:f"}) == std::to_string(JobQueue::most_held_back));
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "3");
  feed.host.queue->retire();
  CHECK(feed.host.queue->unsettled() == JobQueue::most_held_back);
  CHECK(feed.host.settled());
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == std::to_string(jobs));
  CHECK(feed.ask({"HLEN", "feed.cancelled:f"}) == std::to_string(jobs));
  CHECK(feed.unclaimed());
  CHECK(feed.host.told.all_settled > 0);
}

TEST_CASE("stalled, put back, and back in line: what counts as a failure, and what doesn't") {
  Feed feed;
  feed.put("a");
  feed.put("b");
  feed.ask({"HSET", "feed.cancelled:f", "a", "2", "b", "2"});
  Claim claim = feed.host.take_one();
  CHECK(claim.attempt == 3);
  CHECK(feed.host.settle(claim, PutBack{}, Cancelled{}));
  CHECK(feed.queue() == "b\na");
  feed.host.queue->hand_back(feed.host.take_one());
  CHECK(feed.host.settled());
  CHECK(feed.queue() == "b\na");
  CHECK(feed.host.settle(feed.host.take_one(), Requeue{}, Cancelled{true}));
  CHECK(feed.queue() == "a\nb");
  CHECK(feed.ask({"HMGET", "feed.cancelled:f", "a", "b"}) == "2\n2");
  CHECK(feed.unclaimed());

  CHECK(feed.host.settle(feed.host.take_one(), Stall{"3 failed in a row, the last: no"},
                         Failed{"no"}));
  CHECK(feed.unclaimed());
  CHECK(feed.ask({"SMEMBERS", "feed.stalled:f"}) == "b");
  CHECK(feed.ask({"HEXISTS", "feed.cancelled:f", "b"}) == "0");
  CHECK(feed.ask({"ZSCORE", "feed.published:f", "b"}) == "(nil)");
  CHECK(feed.ask({"HGET", "feed.items:f", "b"}) == "p");
  CHECK(feed.host.told.parked == std::vector<std::string>{"b: 3 failed in a row, the last: no"});
  CHECK(feed.ask({"XREVRANGE", "f:runs", "+", "-"}).find("stalled\n3 failed in a row") !=
        std::string::npos);

  // An operator's order, unless the run has finished the job.
  claim = feed.host.take_one();
  std::string note = feed.ask({"HGET", "f:taken", "a"});
  feed.ask({"HSET", "f:taken", "a", note.replace(note.find(" - "), 3, " q ")});
  CHECK(feed.host.settle(claim, Requeue{}, Cancelled{true}));
  CHECK(feed.ask({"SISMEMBER", "feed.stalled:f", "a"}) == "1");
  CHECK(feed.unclaimed());
}

TEST_CASE("a lost lease changes nothing, and a claim that was given to another is not ended") {
  Feed feed;
  JobHost other(feed.loop, feed.server.url(), job_rule(), "there");
  feed.put("a");
  const Claim ours = feed.host.take_one();
  CHECK(feed.host.settle(ours, Leave{}, Lost{}));
  CHECK(feed.ask({"ZCARD", "feed.claimed:f"}) == "1");
  CHECK(feed.queue().empty());
  feed.ask({"FLUSHALL"});
  feed.put("a");
  const Claim first = feed.host.take_one();
  // A client cancels it, and another has it then.
  feed.ask({"ZREM", "feed.claimed:f", "a"});
  feed.ask({"LPUSH", "feed.ids:f", "a"});
  const Claim second = other.take_one();
  REQUIRE(second.item == "a");
  CHECK(feed.ask({"GET", "feed.lease:f:a"}) == "run:there:77:" + second.run);
  for (const JobDisposition& what : {JobDisposition(Finish{"{}"}), JobDisposition(Cancel{})}) {
    CHECK(feed.host.settle(first, what));
    CHECK(feed.ask({"HGET", "feed.items:f", "a"}) == "p");
    CHECK(feed.ask({"GET", "feed.lease:f:a"}) == "run:there:77:" + second.run);
    CHECK(feed.ask({"EXISTS", "feed.finishes:f", "feed.cancelled:f"}) == "0");
  }
  CHECK(other.settle(second, Finish{"{}"}));
  CHECK(feed.ask({"GET", "feed.finishes:f"}) == "1");
  CHECK(feed.unclaimed());
}

TEST_CASE("a claim that somebody takes back, a feed that is deleted: the lease is lost, cleanly") {
  Feed feed(job_rule(1s));
  feed.put("cancelled");
  feed.put("kept");
  feed.put("expired");
  const TakeReply reply = feed.host.take(3);
  REQUIRE(reply.claims.size() == 3);
  feed.ask({"ZREM", "feed.claimed:f", "cancelled"});
  CHECK(turn_until(feed.loop, [&] { return !feed.host.told.lost.empty(); }));
  CHECK(feed.host.told.lost == std::vector<RunId>{reply.claims[0].run});
  // A lease that is gone is taken again while the claim is ours.
  feed.ask({"DEL", "feed.lease:f:expired"});
  CHECK(turn_until(feed.loop, [&] { return feed.ask({"EXISTS", "feed.lease:f:expired"}) == "1"; }));
  CHECK(feed.host.told.lost.size() == 1);
  for (const std::string key : {"config", "ids", "items", "published", "claimed", "cancelled"})
    feed.ask({"DEL", "feed." + key + ":f"});
  feed.ask({"DEL", "f:taken", "feed.lease:f:kept", "feed.lease:f:expired"});
  CHECK(turn_until(feed.loop, [&] { return feed.host.told.lost.size() == 3; }));
  for (const Claim& claim : reply.claims) CHECK(feed.host.settle(claim, Finish{"{}"}));
  CHECK(feed.ask({"KEYS", "feed.*"}).empty());
  CHECK(feed.ask({"EXISTS", "f:taken"}) == "0");
  CHECK(feed.ask({"XLEN", "f:runs"}) == "3");
}

TEST_CASE(
    "what a host that is gone has claimed is taken back when its lease is over, never before") {
  Rule rule = job_rule();
  rule.max_failures = 2;
  Feed feed(rule);
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
  CHECK(feed.ask({"XREVRANGE", "f:runs", "+", "-"}).find("stalled\n2 failed in a row") !=
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
  Feed feed;
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

TEST_CASE("an ACL that forbids a step of a claim loses no job") {
  Feed feed;
  feed.put("a");
  for (const char* command : {"-zadd", "-hset", "-rpop", "-set"}) {
    CAPTURE(command);
    feed.ask({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", command});
    std::string url = feed.server.url();
    url.insert(std::string("unix://").size(), "some:x@");
    JobHost host(feed.loop, url, job_rule());
    const TakeReply reply = host.take();
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(feed.queue() == "a");
    CHECK(feed.unclaimed());
  }
}

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
void put_many(const Feed& feed, int first, int last) {
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

TEST_CASE("ids that were nowhere twice go back to their queue, and no others") {
  Feed feed;
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
  Feed feed;
  feed.put("lost");
  feed.ask({"DEL", "feed.ids:f"});
  feed.ask({"SADD", "feed.stalled:f", "ghost"});
  feed.ask({"HSET", "f:nowhere", "lost", "1"});  // as a whole look has noted it
  Carer carer(feed.loop, feed.server.url(), job_rule(), "here");
  CHECK(carer.maintain().put_back == 1);
  CHECK(feed.ask({"LLEN", "feed.ids:f"}) == "1");
}

TEST_CASE("one host at a time maintains a feed, and a feed of another kind is told") {
  Feed feed;
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
  Feed feed(rule);
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
  Feed feed(rule);
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
            "+xadd",
            "+xrevrange",
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
            "+lpush",
            "+incr"});
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
  CHECK(feed.ask({"XLEN", "f:runs"}) == "6");
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

}  // namespace job_test
