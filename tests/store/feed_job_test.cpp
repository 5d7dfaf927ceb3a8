// Keys and messages of queues and jobs, as the subcommands of w8yctl write them (w8y-keys(7)).
#include <set>

#include "store/feed_fixture.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

namespace feed_job_test {

TEST_CASE("queues: items are read once, in order of arrival, items with high priority first") {
  FeedFixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  FeedMessages heard(at);
  QueueFeed queue(at.at(), "q");
  queue.put({{"a", "1"}, {"b", "2"}}, false);
  queue.put({{"c", "3"}, {"d", "4"}}, true);
  CHECK(heard.lines().empty());
  CHECK(at.command({"GET", "feed.publishes:q"}) == "4");
  CHECK(at.ids_of(queue) == Words{"b", "a", "c", "d"});
  Words taken;
  while (const auto next = queue.get()) taken.push_back(next->first + next->second);
  CHECK(taken == Words{"d4", "c3", "a1", "b2"});
  CHECK(heard.lines().empty());
  CHECK(at.keys() == "feed.config:q feed.publishes:q feeds");
  // Any number of ids without an item is dropped.
  at.command({"EVAL", "for i = 1, 2500 do redis.call('RPUSH', KEYS[1], i) end", "1", "feed.ids:q"});
  CHECK(!queue.get());
  CHECK(at.command({"EXISTS", "feed.ids:q"}) == "0");
}

TEST_CASE("queues: one put stores many items in their order") {
  FeedFixture at;
  at.feeds.create("q", FeedKind::job, std::nullopt);
  std::vector<FeedItem> items;
  for (int i = 0; i < 2345; ++i) items.emplace_back("id" + std::to_string(i), std::to_string(i));
  JobFeed jobs(at.at(), "q");
  jobs.put(items, false);
  CHECK(at.command({"HLEN", "feed.items:q"}) == "2345");
  CHECK(at.command({"ZCARD", "feed.published:q"}) == "2345");
  CHECK(at.command({"LLEN", "feed.ids:q"}) == "2345");
  CHECK(at.command({"GET", "feed.publishes:q"}) == "2345");
  CHECK(jobs.get() == FeedItem("id0", "0"));
  CHECK(jobs.get() == FeedItem("id1", "1"));
  CHECK(at.ids_of(jobs).size() == 2345);
}

TEST_CASE("jobs: many ids are read in parts, each once, and no existing id is missed") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.command(
      {"EVAL",
       "for i = 1, 20000 do redis.call('HSET', KEYS[1], 'id' .. i, string.rep('x', i % 900)) end",
       "1", "feed.items:j"});
  std::set<std::string> all;
  std::size_t count = 0;
  at.command({"CONFIG", "RESETSTAT"});
  FeedAccess({at.client}, "j", FeedKind::job).ids([&](std::string&& id) {
    all.insert(std::move(id));
    // The hash table is resized meanwhile.
    const std::string name = std::to_string(++count);
    if (count % 500 == 0)
      at.command({"EVAL",
                  "for i = 1, 500 do redis.call('HSET', KEYS[1], ARGV[1] .. '-' .. i, 'new') end",
                  "1", "feed.items:j", name});
  });
  CHECK(count == all.size());
  for (int i = 1; i <= 20'000; ++i)
    if (!all.contains("id" + std::to_string(i))) FAIL(i);
  const std::string stats = at.command({"INFO", "commandstats"});
  CHECK(stats.find("cmdstat_hkeys") == std::string::npos);
  CHECK(std::stoi(stats.substr(stats.find("cmdstat_hscan:calls=") + 20)) > 20);
}

TEST_CASE("jobs: a job is put, claimed, and finished with or without a result") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  FeedMessages heard(at);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  jobs.put({{"c", "3"}}, true);
  CHECK(at.command({"GET", "feed.publishes:j"}) == "3");
  CHECK(at.score("feed.published:j", "c") > 1.7e12);
  CHECK(jobs.get() == FeedItem("c", "3"));
  CHECK(at.score("feed.claimed:j", "c") > 1.7e12);
  CHECK(at.command({"HEXISTS", "feed.items:j", "c"}) == "1");
  CHECK(!jobs.finish("a", std::nullopt).done);
  CHECK(!jobs.finish("nobody", std::nullopt).done);
  at.command({"HSET", "feed.cancelled:j", "c", "2"});
  CHECK(jobs.finish("c", std::string("res\0ult", 7)).done);
  CHECK(heard.lines() == Words{"job.finish:j c|res|ult"});
  CHECK(jobs.get()->first == "a");
  CHECK(jobs.finish("a", "").done);
  CHECK(heard.lines() == Words{"job.finish:j a|"});
  CHECK(jobs.get()->first == "b");
  CHECK(jobs.finish("b", std::nullopt).done);
  CHECK(heard.lines().empty());
  CHECK(!jobs.finish("b", std::nullopt).done);
  CHECK(!jobs.get());
  CHECK(at.command({"GET", "feed.finishes:j"}) == "3");
  CHECK(at.keys() == "feed.config:j feed.finishes:j feed.publishes:j feeds");
}

TEST_CASE("jobs: a job is cancelled, stalled, retried and retracted") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  FeedMessages heard(at);
  JobFeed jobs(at.at(), "j");
  const auto done = [&](JobChange what, const std::string& id) {
    return jobs.change(what, {id}).at(0).done;
  };
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  CHECK(!done(JobChange::cancel, "a"));
  CHECK(!done(JobChange::stall, "a"));
  CHECK(!done(JobChange::retry, "a"));
  CHECK(jobs.failures("a") == 0);
  jobs.get();
  CHECK(done(JobChange::cancel, "a"));
  CHECK(jobs.failures("a") == 1);
  CHECK(at.ids_of(jobs).size() == 2);
  CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == "a\nb");
  jobs.get();
  CHECK(jobs.get()->first == "a");
  CHECK(done(JobChange::stall, "a"));
  CHECK(jobs.failures("a") == 0);
  CHECK(at.command({"SMEMBERS", "feed.stalled:j"}) == "a");
  CHECK(at.command({"ZRANGE", "feed.published:j", "0", "-1"}) == "b");
  CHECK(jobs.find("a") == JobFeed::Whereabouts::stalled);
  CHECK(done(JobChange::retry, "a"));
  CHECK(!done(JobChange::retry, "a"));
  CHECK(at.score("feed.published:j", "a") > 1.7e12);
  CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == "a");
  CHECK(at.command({"EXISTS", "feed.stalled:j"}) == "0");
  const auto retracted = jobs.change(JobChange::retract, {"a", "nobody", "b"});
  CHECK(retracted[0].done);
  CHECK(!retracted[1].done);
  CHECK(retracted[2].done);  // it was claimed
  CHECK(heard.lines().empty());
  CHECK(at.keys() == "feed.config:j feed.publishes:j feeds");
}

TEST_CASE("jobs: finish is refused while a host has the lease, and cancel deletes the lease") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}}, false);
  jobs.get();
  at.command({"SET", "feed.lease:j:a", "run:host:1:id"});
  at.command({"HSET", "j:claims", "a", "x"});
  const JobFeed::Done finished = jobs.finish("a", "r");
  CHECK(!finished.done);
  CHECK(finished.holder == "run:host:1:id");
  CHECK(at.command({"EXISTS", "feed.items:j", "feed.finishes:j"}) == "1");
  CHECK(jobs.change(JobChange::cancel, {"a"})[0].done);
  CHECK(at.command({"EXISTS", "feed.lease:j:a", "j:claims"}) == "0");
  jobs.get();
  CHECK(jobs.finish("a", "r").done);
}

TEST_CASE(
    "jobs: a change deletes the id of a job that was retracted between two steps of a client") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  for (const JobChange what : {JobChange::cancel, JobChange::stall}) {
    at.command({"ZADD", "feed.claimed:j", "1", "gone"});
    CHECK(!jobs.change(what, {"gone"})[0].done);
  }
  at.command({"SADD", "feed.stalled:j", "gone"});
  CHECK(!jobs.change(JobChange::retry, {"gone"})[0].done);
  CHECK(at.keys() == "feed.config:j feeds");
}

TEST_CASE("jobs: an invalid counter of another client loses and repeats no job") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}}, false);
  jobs.get();
  at.command({"SET", "feed.finishes:j", "abc"});
  CHECK(!error_of([&] { jobs.finish("a", "r"); }).empty());
  CHECK(at.command({"ZRANGE", "feed.claimed:j", "0", "-1"}) == "a");
  CHECK(at.command({"HGET", "feed.items:j", "a"}) == "1");
  at.command({"HSET", "feed.cancelled:j", "a", "abc"});
  CHECK(jobs.change(JobChange::cancel, {"a"})[0].done);
  CHECK(at.command({"HGET", "feed.cancelled:j", "a"}) == "1");
  CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == "a");
}

TEST_CASE("jobs: a job that is queued twice or stalled is not claimed a second time") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  at.command({"RPUSH", "feed.ids:j", "a"});
  CHECK(jobs.get().value().first == "a");
  at.command({"SADD", "feed.stalled:j", "b"});
  CHECK_FALSE(jobs.get().has_value());
  CHECK(at.command({"EXISTS", "feed.ids:j"}) == "0");
  CHECK(at.command({"ZRANGE", "feed.claimed:j", "0", "-1"}) == "a");
}

TEST_CASE("queues: a missing permission to read an item loses no item") {
  FeedFixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  QueueFeed(at.at(), "q").put({{"a", "1"}}, false);
  for (const char* missing : {"-rpop", "-hdel"}) {
    CAPTURE(missing);
    at.command({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", missing});
    auto options = options_for(at.server.url());
    options.url.user = "some";
    options.url.password = Secret("x");
    redis::SyncClient client(at.loop, options);
    QueueFeed queue({client}, "q");
    CHECK(!error_of([&] { queue.get(); }).empty());
    CHECK(at.command({"HGET", "feed.items:q", "a"}) == "1");
    CHECK(at.command({"LRANGE", "feed.ids:q", "0", "-1"}) == "a");
  }
}

TEST_CASE("jobs: a missing permission to retry a job, or to move it forward, loses no job") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"b", "2"}, {"a", "1"}}, false);
  const std::string waiting = at.command({"LRANGE", "feed.ids:j", "0", "-1"});
  at.command({"HSET", "feed.items:j", "stalled", "3"});
  at.command({"SADD", "feed.stalled:j", "stalled"});
  const auto tries = [&](JobChange what, const std::string& id, const std::string& missing) {
    at.command({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", missing});
    auto options = options_for(at.server.url());
    options.url.user = "some";
    options.url.password = Secret("x");
    redis::SyncClient client(at.loop, options);
    return error_of([&] { JobFeed({client}, "j").change(what, {id}); });
  };
  for (const char* missing : {"-hexists", "-srem", "-lpush"}) {
    CAPTURE(missing);
    CHECK(!tries(JobChange::retry, "stalled", missing).empty());
    CHECK(at.command({"SMEMBERS", "feed.stalled:j"}) == "stalled");
    CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == waiting);
  }
  for (const char* missing : {"-lpos", "-rpush", "-lrem"}) {
    CAPTURE(missing);
    for (const char* job : {"a", "b"}) {
      CHECK(!tries(JobChange::next, job, missing).empty());
      CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == waiting);
    }
  }
  const std::string last = waiting.substr(waiting.find('\n') + 1), first = waiting.substr(0, 1);
  CHECK(jobs.change(JobChange::next, {first})[0].done);
  CHECK(at.command({"LRANGE", "feed.ids:j", "0", "-1"}) == last + "\n" + first);
}

}  // namespace feed_job_test
