// Scripts by which programs create work: one call adds items or puts jobs and records the request.
// Results of jobs are kept.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "operator/feed_directory.hpp"
#include "operator/job_feeds.hpp"
#include "store/circular/item_changes.hpp"
#include "store/job_host.hpp"
#include "support/client_options.hpp"

using namespace w8y;
using namespace w8y::test;
using verbs::JobChange, verbs::JobFeed, verbs::NewJob;
using State = store::RecordedReply::State;

namespace producer_test {
namespace {

struct ItemFixture {
  std::string command(const std::vector<std::string>& words) const { return server.command(words); }
  store::RecordedReply add(const std::vector<Item>& items, const store::RequestRecord& request) {
    return changes.add(items, false, request);
  }
  std::string evals() const {
    const std::string stats = server.command({"INFO", "commandstats"});
    const auto at = stats.find("cmdstat_evalsha:calls=");
    return at == std::string::npos ? "0" : stats.substr(at + 22, stats.find(',', at) - at - 22);
  }

  RedisServer server;
  loop::Loop loop;
  redis::SyncClient client{loop, options_for(server.url())};
  store::ItemChanges changes{client, store::CircularKeys("work:")};
};

struct ResultFixture : JobFixture {
  ResultFixture() : client(loop, options_for(server.url())), jobs({client, false}, "f") {
    verbs::FeedDirectory({client, false}).create("f", verbs::FeedKind::job, std::nullopt);
  }
  bool put(const std::string& id, std::optional<Duration> keep = std::chrono::hours(1)) {
    return jobs.put_unique({id, "payload", false, false, keep});
  }
  std::string field(const std::string& id, const std::string& name) const {
    return command({"HGET", "feed.result:f:" + id, name});
  }

  redis::SyncClient client;
  JobFeed jobs;
};

}  // namespace

TEST_CASE("a repeated request adds nothing and gets the first reply") {
  ItemFixture at;
  const store::RequestRecord request{"work:idempotency:k", "0a", "data"};
  const auto first = at.add({"a", "b", "a"}, request);
  CHECK(first.state == State::written);
  CHECK(first.results == "110");
  at.command({"DEL", "work:list"});
  const auto again = at.add({"a", "b", "a"}, {"work:idempotency:k", "0a", "other data"});
  CHECK(again.state == State::again);
  CHECK(again.results == "110");
  CHECK(again.data == "data");
  CHECK(at.add({"c"}, {"work:idempotency:k", "0b", ""}).state == State::other);
  CHECK(at.command({"EXISTS", "work:list"}) == "0");
  CHECK(std::stoi(at.command({"PTTL", "work:idempotency:k"})) > 3'500'000);
}

TEST_CASE("a request that adds nothing is recorded as well") {
  ItemFixture at;
  at.command({"RPUSH", "work:list", "a"});
  const store::RequestRecord request{"work:idempotency:k", "0a", ""};
  CHECK(at.add({"a"}, request).results == "0");
  at.command({"DEL", "work:list"});
  CHECK(at.add({"a"}, request).results == "0");
  CHECK(at.command({"EXISTS", "work:list"}) == "0");
}

TEST_CASE("a request that Redis refuses leaves no record") {
  ItemFixture at;
  at.command({"SET", "work:list", "of a wrong type"});
  CHECK_THROWS_AS(at.add({"a"}, {"work:idempotency:k", "0a", ""}), redis::RedisError);
  at.command({"DEL", "work:list"});
  at.command({"ACL", "SETUSER", "default", "-rpush"});
  CHECK_THROWS_AS(at.add({"a"}, {"work:idempotency:k", "0a", ""}), redis::RedisError);
  CHECK(at.command({"KEYS", "*"}).empty());
}

TEST_CASE("1,000 items are added in one call, and a long list is read before it") {
  ItemFixture at;
  std::vector<Item> items;
  for (int i = 0; i < 1000; ++i) items.push_back("item " + std::to_string(i));
  CHECK(at.add(items, {}).results == std::string(1000, '1'));
  CHECK(at.add(items, {}).results == std::string(1000, '0'));
  CHECK(at.evals() == "1");  // the first call sends the script
  at.command(
      {"EVAL", "for i = 1, 20000 do redis.call('RPUSH', KEYS[1], 'x' .. i) end", "1", "work:list"});
  items.back() = "new";
  CHECK(at.add(items, {}).results == std::string(999, '0') + "1");
  CHECK(at.command({"LLEN", "work:list"}) == "21001");
}

TEST_CASE("an item that may be added twice keeps its past in a long list") {
  ItemFixture at;
  at.command(
      {"EVAL", "for i = 1, 5000 do redis.call('RPUSH', KEYS[1], 'x' .. i) end", "1", "work:list"});
  at.command({"HSET", "work:failures", "x1", "3"});
  at.command({"SET", "work:lock:x1", "quarantine:"});
  CHECK(at.changes.add(std::vector<Item>{"x1"}, true, {}).results == "1");
  CHECK(at.command({"HGET", "work:failures", "x1"}) == "3");
  CHECK(at.command({"GET", "work:lock:x1"}) == "quarantine:");
  CHECK(at.command({"LLEN", "work:list"}) == "5001");
}

TEST_CASE("jobs are put in one call, each at its end of the queue, unless the feed has their ID") {
  ResultFixture at;
  at.command({"HSET", "feed.cancelled:f", "b", "7"});
  const std::vector<NewJob> some{{"a", "1"},
                                 {"b", "2", false, false, std::chrono::minutes(1)},
                                 {"c", "3", true},
                                 {"d", "4", true, false},
                                 {"b", "5", false, false}};
  const verbs::PutTerms terms{false, {"key", {"POST"}, "data"}};
  const auto reply = at.jobs.put(some, terms);
  CHECK(reply.results == "11110");
  CHECK(at.queue() == "b\na\nc\nd");
  CHECK(at.command({"HGET", "feed.items:f", "b"}) == "2");
  CHECK(at.command({"HGETALL", "f:keep"}) == "b\n60000");
  CHECK(at.command({"GET", "feed.publishes:f"}) == "4");
  CHECK(at.command({"ZCARD", "feed.published:f"}) == "4");
  CHECK(at.command({"EXISTS", "feed.cancelled:f"}) == "0");
  const auto again = at.jobs.put(some, terms);
  CHECK(again.state == State::again);
  CHECK(again.results == "11110");
  CHECK(again.data == "data");
  CHECK(at.jobs.put(some, {false, {"key", {"PUT"}, ""}}).state == State::other);
  CHECK(at.command({"LLEN", "feed.ids:f"}) == "4");
}

TEST_CASE("jobs that Redis refuses leave no record, and an unknown feed is created on request") {
  ResultFixture at;
  JobFeed none({at.client, false}, "none");
  CHECK_THROWS_AS(none.put({{"a", "1"}}, {}), verbs::FeedMissing);
  CHECK(none.put({{"a", "1"}}, {true, {}}).results == "1");
  CHECK(at.command({"HGET", "feed.config:none", "type"}) == "job");
  CHECK(at.command({"SISMEMBER", "feeds", "none"}) == "1");
  at.command({"ACL", "SETUSER", "default", "-hset"});
  CHECK_THROWS_AS(at.jobs.put({{"a", "1"}}, {false, {"key", {"POST"}, ""}}), redis::RedisError);
  CHECK(at.command({"EXISTS", "f:idempotency:key"}) == "0");
}

TEST_CASE("the result of a finished job is kept for its time, up to max_result") {
  ListConfig rule = job_rule();
  rule.max_result = 4;
  ResultFixture at;
  at.host.rule = std::make_shared<const ListConfig>(rule);
  at.put("a", std::chrono::minutes(5));
  at.put("b");
  at.put("c", std::nullopt);
  const auto claims = at.host.claim(3).claims;
  REQUIRE(claims.size() == 3);
  CHECK(at.host.settle(claims[0], store::thoonk::Finish{"12345"}));
  CHECK(at.host.settle(claims[1], store::thoonk::Finish{"123"}));
  CHECK(at.host.settle(claims[2], store::thoonk::Finish{"x"}));
  const auto kept = at.jobs.state("a");
  REQUIRE(kept);
  CHECK(kept->state == "finished");
  CHECK(kept->end->result == "1234");
  CHECK(kept->end->truncated);
  CHECK(kept->end->run == claims[0].run.str());
  CHECK(kept->end->time > WallTime(1'700'000'000'000));
  CHECK(std::stoi(at.command({"PTTL", "feed.result:f:a"})) <= 300'000);
  CHECK(!at.jobs.state("b")->end->truncated);
  CHECK(!at.jobs.state("c"));
  CHECK(at.command({"EXISTS", "f:keep"}) == "0");
  // A new job with this ID deletes it.
  CHECK(at.put("a", std::nullopt));
  CHECK(at.command({"EXISTS", "feed.result:f:a"}) == "0");
  CHECK(at.jobs.state("a")->state == "queued");
}

TEST_CASE("a stalled job shows its cause until it is finished") {
  ResultFixture at;
  at.put("a");
  CHECK(at.host.settle(at.host.claim_one_job(), store::thoonk::Stall{"2 failures: exit status 3"},
                       Failed{"exit status 3"}));
  auto state = at.jobs.state("a");
  REQUIRE(state);
  CHECK(state->state == "stalled");
  REQUIRE(state->end);
  CHECK(!state->end->reason.empty());
  at.jobs.change(JobChange::retry, {"a"});
  CHECK(at.jobs.state("a")->state == "queued");
  CHECK(!at.jobs.state("a")->end);
  CHECK(at.host.settle(at.host.claim_one_job(), store::thoonk::Finish{"done"}));
  CHECK(at.jobs.state("a")->end->result == "done");
}

TEST_CASE("a retracted job leaves nothing, and a result of another feed is not shown") {
  ResultFixture at;
  at.put("a");
  at.jobs.change(JobChange::retract, {"a"});
  CHECK(at.command({"EXISTS", "f:keep"}) == "0");
  CHECK(!at.jobs.state("a"));
  verbs::FeedDirectory({at.client, false}).create("f:x", verbs::FeedKind::job, std::nullopt);
  at.put("x:y");
  CHECK(at.host.settle(at.host.claim_one_job(), store::thoonk::Finish{"done"}));
  CHECK(at.jobs.state("x:y"));
  CHECK(!JobFeed({at.client, false}, "f:x").state("y"));
}

TEST_CASE("maintenance deletes the entry in keep of a job that another client has finished") {
  ResultFixture at;
  at.put("a");
  at.command({"HDEL", "feed.items:f", "a"});
  at.command({"DEL", "feed.ids:f"});
  at.jobs.maintain({.who = "an operator", .interval = std::chrono::seconds(1)});
  CHECK(at.command({"EXISTS", "f:keep"}) == "0");
}

}  // namespace producer_test
