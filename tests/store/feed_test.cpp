// Feeds, sorted feeds, queues and jobs as the commands about them change them, key by key and
// message by message (w8y-keys(7)).
#include "store/thoonk/feed.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/url.hpp"
#include "store/thoonk/directory.hpp"
#include "store/thoonk/job_feed.hpp"
#include "support/cluster.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;

namespace feed_test {
namespace {

redis::ClientOptions options_of(const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  return options;
}

using Words = std::vector<std::string>;
using Where = FeedPosition::Where;

struct Fixture {
  Fixture() : client(loop, options_of(server.url())), feeds(at()) {}

  FeedServer at() { return {client, false}; }
  std::string ask(const Words& words) const { return server.ask(words); }
  double score(const std::string& key, const std::string& id) const {
    return std::stod(ask({"ZSCORE", key, id}));
  }
  Words ids_of(FeedAccess& feed) const {
    Words all;
    feed.ids([&all](std::string&& id) { all.push_back(std::move(id)); });
    return all;
  }
  std::string publish(const std::string& feed, const std::string& id, const std::string& item) {
    Feed(at(), feed).publish({{id, item}});
    return id;
  }
  /// What all keys hold, but for the times in them.
  std::string keys() const {
    Words all;
    const std::string text = ask({"KEYS", "*"});
    for (std::size_t first = 0; first <= text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size());
      if (end > first) all.push_back(text.substr(first, end - first));
      first = end + 1;
    }
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const auto& key : all) joined += (joined.empty() ? "" : " ") + key;
    return joined;
  }

  RedisServer server;
  loop::Loop loop;
  redis::SyncClient client;
  FeedDirectory feeds;
};

/// All messages from now on, as "channel payload", with '|' for NUL.
class Heard {
 public:
  explicit Heard(Fixture& at) : at_(at), subscriber_(at.loop, options_of(at.server.url())) {
    bool ready = false;
    all_ = subscriber_.psubscribe(
        "*",
        [this](std::string_view channel, std::string_view text) {
          if (channel.ends_with(":wake")) return;  // ours, a hint
          std::string line = std::string(channel) + " " + std::string(text);
          std::replace(line.begin(), line.end(), '\0', '|');
          lines_.push_back(std::move(line));
        },
        [&ready] { ready = true; });
    CHECK(turn_until(at.loop, [&] { return ready; }));
  }
  /// What came since the last time.
  Words lines() {
    at_.ask({"PUBLISH", "test", "end"});
    CHECK(turn_until(at_.loop, [this] { return !lines_.empty() && lines_.back() == "test end"; }));
    lines_.pop_back();
    return std::exchange(lines_, {});
  }

 private:
  Fixture& at_;
  redis::Subscriber subscriber_;
  redis::Subscription all_;
  Words lines_;
};

template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("feeds: a feed has its kind, a name among all names, and is told of") {
  Fixture at;
  Heard heard(at);
  CHECK(at.feeds.create("news", FeedKind::feed, 5));
  CHECK(!at.feeds.create("news", FeedKind::job, std::nullopt));
  CHECK(at.ask({"SMEMBERS", "feeds"}) == "news");
  CHECK(at.ask({"HGETALL", "feed.config:news"}) == "type\nfeed\nmax_length\n5");
  const Words told = heard.lines();
  REQUIRE(told.size() == 2);
  CHECK(told[0].substr(0, 13) == "newfeed news|");
  CHECK(told[0].size() == 13 + 32);
  CHECK(told[1] == "conffeed news|" + told[0].substr(13));

  at.feeds.set_config("news", "max_length", "7");
  CHECK(heard.lines() == Words{told[1]});
  CHECK(at.feeds.config("news") == FeedDirectory::Values{{"max_length", "7"}, {"type", "feed"}});
  at.feeds.create("a", FeedKind::queue, std::nullopt);
  at.ask({"SADD", "feeds", "bare"});  // as a client makes it that goes by the contract alone
  const auto list = at.feeds.list();
  REQUIRE(list.size() == 3);
  CHECK(list[0].feed == "a");
  CHECK(list[0].kind == "queue");
  CHECK(list[1].kind.empty());
}

TEST_CASE("feeds: a feed that is deleted leaves no key of any kind, and no lease") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.feeds.create("other", FeedKind::job, std::nullopt);
  for (const char* hash : {"feed.items:j", "feed.cancelled:j", "j:taken"})
    at.ask({"HSET", hash, "a", "1"});
  for (const char* sorted : {"feed.published:j", "feed.claimed:j"})
    at.ask({"ZADD", sorted, "1", "a", "2", "b"});
  for (const char* number : {"feed.publishes:j", "feed.idincr:j", "feed.finishes:j"})
    at.ask({"INCR", number});
  at.ask({"RPUSH", "feed.ids:j", "a"});
  at.ask({"SADD", "feed.stalled:j", "c"});
  for (const char* lease : {"feed.lease:j:a", "feed.lease:j:b", "feed.lease:other:a"})
    at.ask({"SET", lease, "x"});
  Heard heard(at);
  at.feeds.remove("j");
  CHECK(at.keys() == "feed.config:other feed.lease:other:a feeds");
  const Words told = heard.lines();
  REQUIRE(told.size() == 1);
  CHECK(told[0].substr(0, 10) == "delfeed j|");
  CHECK(at.ask({"SMEMBERS", "feeds"}) == "other");
  CHECK(error_of([&] { at.feeds.remove("j"); }) ==
        "there is no feed j (w8yctl feed create makes one)");
}

TEST_CASE("feeds: items are published, edited and retracted as others are told") {
  Fixture at;
  at.feeds.create("news", FeedKind::feed, std::nullopt);
  Heard heard(at);
  Feed feed(at.at(), "news");
  feed.publish({{"1", "one"}, {"2", "two"}});
  CHECK(heard.lines() == Words{"feed.publish:news 1|one", "feed.publish:news 2|two"});
  const double before = at.score("feed.ids:news", "1");
  CHECK(before > 1.7e12);
  CHECK(at.score("feed.ids:news", "2") > before);
  feed.publish({{"1", "more"}});
  CHECK(heard.lines() == Words{"feed.edit:news 1|more"});
  CHECK(at.ids_of(feed) == Words{"2", "1"});
  CHECK(at.ask({"GET", "feed.publishes:news"}) == "3");
  CHECK(feed.item("1") == "more");
  CHECK(!feed.item("3"));
  Words all;
  std::vector<std::pair<std::string, std::size_t>> too_long;
  feed.all([&](const std::string& id, std::string&& item) { all.push_back(id + "=" + item); },
           too_long);
  CHECK(all == Words{"2=two", "1=more"});
  CHECK(feed.retract({"1", "nobody"}) == std::vector<bool>{true, false});
  CHECK(heard.lines() == Words{"feed.retract:news 1"});
  CHECK(at.ask({"HKEYS", "feed.items:news"}) == "2");
  CHECK(at.ask({"ZRANGE", "feed.ids:news", "0", "-1"}) == "2");
}

TEST_CASE("feeds: the newest max_length items stay, and an edited one counts once") {
  Fixture at;
  at.feeds.create("news", FeedKind::feed, 3);
  Feed feed(at.at(), "news");
  feed.publish({{"c", "1"}, {"b", "2"}, {"a", "3"}});  // within a millisecond, most likely
  Heard heard(at);
  feed.publish({{"c", "again"}});
  CHECK(heard.lines() == Words{"feed.edit:news c|again"});
  CHECK(at.ids_of(feed) == Words{"b", "a", "c"});
  feed.publish({{"d", "4"}});
  CHECK(heard.lines() == Words{"feed.retract:news b", "feed.publish:news d|4"});
  CHECK(at.ids_of(feed) == Words{"a", "c", "d"});
  CHECK(at.ask({"HLEN", "feed.items:news"}) == "3");
  at.feeds.set_config("news", "max_length", "1");
  feed.publish({{"a", "5"}});
  CHECK(at.ids_of(feed) == Words{"a"});
  at.feeds.set_config("news", "max_length", "0");
  feed.publish({{"e", "6"}});
  CHECK(at.ids_of(feed) == Words{"a", "e"});
}

TEST_CASE("feeds: many that are over max_length go in steps, and what is published is the newest") {
  Fixture at;
  at.feeds.create("news", FeedKind::feed, std::nullopt);
  Feed feed(at.at(), "news");
  std::vector<FeedItem> items;
  for (int i = 0; i < 3500; ++i) items.emplace_back(std::to_string(i), "x");
  feed.publish(items);
  at.feeds.set_config("news", "max_length", "2");
  feed.publish({{"new", "x"}});
  CHECK(at.ids_of(feed) == Words{"3499", "new"});
  CHECK(at.ask({"HLEN", "feed.items:news"}) == "2");
  CHECK(at.ask({"GET", "feed.publishes:news"}) == "3501");
}

TEST_CASE("feeds: times are in the unit that the feed has, and both units are told of") {
  Fixture at;
  at.feeds.create("old", FeedKind::feed, 10);
  at.ask({"ZADD", "feed.ids:old", "1700000000.25", "a"});
  at.ask({"HSET", "feed.items:old", "a", "x"});
  Feed feed(at.at(), "old");
  feed.publish({{"b", "x"}, {"c", "x"}});
  CHECK(at.score("feed.ids:old", "b") > 1.7e9);
  CHECK(at.score("feed.ids:old", "b") < 1e11);
  CHECK(at.score("feed.ids:old", "c") > at.score("feed.ids:old", "b"));
  CHECK(!feed.has_two_units());
  at.ask({"ZADD", "feed.ids:old", "1700000000000", "d"});
  feed.publish({{"e", "x"}});
  CHECK(at.score("feed.ids:old", "e") > 1.7e12);
  CHECK(feed.has_two_units());
  // Times of nobody's clock don't take us with them.
  at.ask({"ZADD", "feed.ids:old", "inf", "f"});
  feed.publish({{"g", "x"}});
  CHECK(at.score("feed.ids:old", "g") < 1e13);
  at.ask({"DEL", "feed.ids:old", "feed.items:old"});
  feed.publish({{"h", "x"}});
  CHECK(at.score("feed.ids:old", "h") > 1.7e12);
}

TEST_CASE("feeds: a max_length that is no number is named, and nothing is published") {
  for (const char* wrong : {"", "-1", "abc", "1.5", "None", "0x10"}) {
    CAPTURE(wrong);
    Fixture at;
    at.feeds.create("news", FeedKind::feed, std::nullopt);
    at.ask({"HSET", "feed.config:news", "max_length", wrong});
    const std::string error = error_of([&] { at.publish("news", "1", "x"); });
    CHECK(error.find("has a max_length of ") != std::string::npos);
    CHECK(at.keys() == "feed.config:news feeds");
  }
}

TEST_CASE("sorted feeds: items are where they were put, and others are told where") {
  Fixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  Heard heard(at);
  SortedFeed feed(at.at(), "top");
  CHECK(feed.insert({Where::end, {}}, {"one", "two"}) == Words{"1", "2"});
  CHECK(heard.lines() == Words{"feed.publish:top 1|one", "feed.position:top 1|:end",
                               "feed.publish:top 2|two", "feed.position:top 2|:end"});
  CHECK(feed.insert({Where::begin, {}}, {"three"}) == Words{"3"});
  CHECK(feed.insert({Where::before, "2"}, {"four"}) == Words{"4"});
  CHECK(feed.insert({Where::after, "3"}, {"five", "six"}) == Words{"5", "6"});
  CHECK(heard.lines() ==
        Words{"feed.publish:top 3|three", "feed.position:top 3|begin:", "feed.publish:top 4|four",
              "feed.position:top 4|:2", "feed.publish:top 5|five",
              "feed.position:top 5|3:", "feed.publish:top 6|six", "feed.position:top 6|3:"});
  CHECK(at.ids_of(feed) == Words{"3", "6", "5", "1", "4", "2"});
  CHECK(at.ask({"GET", "feed.publishes:top"}) == "6");
  CHECK(feed.edit("4", "FOUR"));
  CHECK(!feed.edit("7", "x"));
  CHECK(heard.lines() == Words{"feed.publish:top 4|FOUR"});
  CHECK(at.ask({"GET", "feed.publishes:top"}) == "7");
  CHECK(feed.move({Where::before, "3"}, "2"));
  CHECK(feed.move({Where::after, "1"}, "3"));
  CHECK(feed.move({Where::begin, {}}, "4"));
  CHECK(feed.move({Where::end, {}}, "6"));
  CHECK(!feed.move({Where::end, {}}, "7"));
  CHECK(heard.lines() == Words{"feed.position:top 2|:3", "feed.position:top 3|1:",
                               "feed.position:top 4|begin:", "feed.position:top 6|:end"});
  CHECK(at.ids_of(feed) == Words{"4", "2", "5", "1", "3", "6"});
  CHECK(feed.retract({"2", "2"}) == std::vector<bool>{true, false});
  CHECK(heard.lines() == Words{"feed.retract:top 2"});
  CHECK(at.ids_of(feed) == Words{"4", "5", "1", "3", "6"});
  CHECK(at.ask({"HLEN", "feed.items:top"}) == "5");
}

TEST_CASE("sorted feeds: a position that is gone, or the item itself, changes nothing") {
  Fixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  SortedFeed feed(at.at(), "top");
  feed.insert({Where::end, {}}, {"one", "two"});
  CHECK(error_of([&] {
          feed.insert({Where::before, "9"}, {"x"});
        }) == "there is no 9 in the feed top to put it before");
  CHECK(error_of([&] {
          feed.insert({Where::after, ""}, {"x"});
        }).find("to put it after") != std::string::npos);
  CHECK(error_of([&] {
          feed.move({Where::after, "9"}, "1");
        }) == "there is no 9 in the feed top to put it after");
  CHECK(error_of([&] { feed.move({Where::after, "1"}, "1"); }) == "1 can't be moved after itself");
  CHECK(at.ids_of(feed) == Words{"1", "2"});
  CHECK(at.ask({"GET", "feed.idincr:top"}) == "2");
  // An item whose id is in no order any more is no position.
  at.ask({"LREM", "feed.ids:top", "0", "2"});
  CHECK(!error_of([&] { feed.move({Where::before, "2"}, "1"); }).empty());
  CHECK(at.ids_of(feed) == Words{"1"});
}

TEST_CASE("sorted feeds: where the numbers begin again, no item is written over") {
  Fixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  SortedFeed feed(at.at(), "top");
  feed.insert({Where::end, {}}, {"one", "two"});
  at.ask({"DEL", "feed.idincr:top"});
  CHECK(feed.insert({Where::end, {}}, {"three"}) == Words{"3"});
  CHECK(feed.item("1") == "one");
}

TEST_CASE("queues: items are taken once, in the order in which they came, high ones first") {
  Fixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  Heard heard(at);
  QueueFeed queue(at.at(), "q");
  queue.put({{"a", "1"}, {"b", "2"}}, false);
  queue.put({{"c", "3"}, {"d", "4"}}, true);
  CHECK(heard.lines().empty());
  CHECK(at.ask({"GET", "feed.publishes:q"}) == "4");
  CHECK(at.ids_of(queue) == Words{"b", "a", "c", "d"});
  Words taken;
  while (const auto next = queue.get()) taken.push_back(next->first + next->second);
  CHECK(taken == Words{"d4", "c3", "a1", "b2"});
  CHECK(heard.lines().empty());
  CHECK(at.keys() == "feed.config:q feed.publishes:q feeds");
  // What stands for nothing is dropped, however much of it.
  at.ask({"EVAL", "for i = 1, 2500 do redis.call('RPUSH', KEYS[1], i) end", "1", "feed.ids:q"});
  CHECK(!queue.get());
  CHECK(at.ask({"EXISTS", "feed.ids:q"}) == "0");
}

TEST_CASE("queues: many items at once are all there, in their order") {
  Fixture at;
  at.feeds.create("q", FeedKind::job, std::nullopt);
  std::vector<FeedItem> items;
  for (int i = 0; i < 2345; ++i) items.emplace_back("id" + std::to_string(i), std::to_string(i));
  QueueFeed jobs(at.at(), "q", FeedKind::job);
  jobs.put(items, false);
  CHECK(at.ask({"HLEN", "feed.items:q"}) == "2345");
  CHECK(at.ask({"ZCARD", "feed.published:q"}) == "2345");
  CHECK(at.ask({"LLEN", "feed.ids:q"}) == "2345");
  CHECK(at.ask({"GET", "feed.publishes:q"}) == "2345");
  CHECK(jobs.get() == FeedItem("id0", "0"));
  CHECK(jobs.get() == FeedItem("id1", "1"));
  CHECK(at.ids_of(jobs).size() == 2345);
}

TEST_CASE("jobs: put, claimed, finished with a result and without") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  Heard heard(at);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  jobs.put({{"c", "3"}}, true);
  CHECK(at.ask({"GET", "feed.publishes:j"}) == "3");
  CHECK(at.score("feed.published:j", "c") > 1.7e12);
  CHECK(jobs.get() == FeedItem("c", "3"));
  CHECK(at.score("feed.claimed:j", "c") > 1.7e12);
  CHECK(at.ask({"HEXISTS", "feed.items:j", "c"}) == "1");
  CHECK(!jobs.finish("a", std::nullopt).done);
  CHECK(!jobs.finish("nobody", std::nullopt).done);
  at.ask({"HSET", "feed.cancelled:j", "c", "2"});
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
  CHECK(at.ask({"GET", "feed.finishes:j"}) == "3");
  CHECK(at.keys() == "feed.config:j feed.finishes:j feed.publishes:j feeds");
}

TEST_CASE("jobs: cancelled, stalled, retried, retracted") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  Heard heard(at);
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
  CHECK(at.ask({"LRANGE", "feed.ids:j", "0", "-1"}) == "a\nb");
  jobs.get();
  CHECK(jobs.get()->first == "a");
  CHECK(done(JobChange::stall, "a"));
  CHECK(jobs.failures("a") == 0);
  CHECK(at.ask({"SMEMBERS", "feed.stalled:j"}) == "a");
  CHECK(at.ask({"ZRANGE", "feed.published:j", "0", "-1"}) == "b");
  CHECK(jobs.find("a") == JobFeed::Whereabouts::stalled);
  CHECK(done(JobChange::retry, "a"));
  CHECK(!done(JobChange::retry, "a"));
  CHECK(at.score("feed.published:j", "a") > 1.7e12);
  CHECK(at.ask({"LRANGE", "feed.ids:j", "0", "-1"}) == "a");
  CHECK(at.ask({"EXISTS", "feed.stalled:j"}) == "0");
  const auto retracted = jobs.change(JobChange::retract, {"a", "nobody", "b"});
  CHECK(retracted[0].done);
  CHECK(!retracted[1].done);
  CHECK(retracted[2].done);  // it was claimed
  CHECK(heard.lines().empty());
  CHECK(at.keys() == "feed.config:j feed.publishes:j feeds");
}

TEST_CASE("jobs: who has a lease finishes, and an order to give it back takes it away") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}}, false);
  jobs.get();
  at.ask({"SET", "feed.lease:j:a", "run:host:1:id"});
  at.ask({"HSET", "j:taken", "a", "x"});
  const JobFeed::Done finished = jobs.finish("a", "r");
  CHECK(!finished.done);
  CHECK(finished.holder == "run:host:1:id");
  CHECK(at.ask({"EXISTS", "feed.items:j", "feed.finishes:j"}) == "1");
  CHECK(jobs.change(JobChange::cancel, {"a"})[0].done);
  CHECK(at.ask({"EXISTS", "feed.lease:j:a", "j:taken"}) == "0");
  jobs.get();
  CHECK(jobs.finish("a", "r").done);
}

TEST_CASE("jobs: an id whose job was retracted between another's two steps goes") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  for (const JobChange what : {JobChange::cancel, JobChange::stall}) {
    at.ask({"ZADD", "feed.claimed:j", "1", "gone"});
    CHECK(!jobs.change(what, {"gone"})[0].done);
  }
  at.ask({"SADD", "feed.stalled:j", "gone"});
  CHECK(!jobs.change(JobChange::retry, {"gone"})[0].done);
  CHECK(at.keys() == "feed.config:j feeds");
}

TEST_CASE("jobs: a count that is none, of another client, loses and repeats nothing") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}}, false);
  jobs.get();
  at.ask({"SET", "feed.finishes:j", "abc"});
  CHECK(!error_of([&] { jobs.finish("a", "r"); }).empty());
  CHECK(at.ask({"ZRANGE", "feed.claimed:j", "0", "-1"}) == "a");
  CHECK(at.ask({"HGET", "feed.items:j", "a"}) == "1");
  at.ask({"HSET", "feed.cancelled:j", "a", "abc"});
  CHECK(jobs.change(JobChange::cancel, {"a"})[0].done);
  CHECK(at.ask({"HGET", "feed.cancelled:j", "a"}) == "1");
  CHECK(at.ask({"LRANGE", "feed.ids:j", "0", "-1"}) == "a");
}

TEST_CASE(
    "jobs: one whose id is in the queue twice, or which is stalled, is not given to a second") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  JobFeed jobs(at.at(), "j");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  at.ask({"RPUSH", "feed.ids:j", "a"});
  CHECK(jobs.get().value().first == "a");
  at.ask({"SADD", "feed.stalled:j", "b"});
  CHECK_FALSE(jobs.get().has_value());
  CHECK(at.ask({"EXISTS", "feed.ids:j"}) == "0");
  CHECK(at.ask({"ZRANGE", "feed.claimed:j", "0", "-1"}) == "a");
}

TEST_CASE("queues: a right that is missing to take an item loses none") {
  Fixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  QueueFeed(at.at(), "q").put({{"a", "1"}}, false);
  for (const char* missing : {"-rpop", "-hdel"}) {
    CAPTURE(missing);
    at.ask({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", missing});
    auto options = options_of(at.server.url());
    options.url.user = "some";
    options.url.password = Secret("x");
    redis::SyncClient client(at.loop, options);
    QueueFeed queue({client}, "q");
    CHECK(!error_of([&] { queue.get(); }).empty());
    CHECK(at.ask({"HGET", "feed.items:q", "a"}) == "1");
    CHECK(at.ask({"LRANGE", "feed.ids:q", "0", "-1"}) == "a");
  }
}

TEST_CASE("feeds: what a server without writes refuses is told to nobody") {
  Fixture at;
  at.feeds.create("f", FeedKind::feed, std::nullopt);
  int heard = 0;
  auto options = options_of(at.server.url());
  redis::Subscriber ears(at.loop, options);
  const auto news =
      ears.subscribe("feed.publish:f", [&](std::string_view, std::string_view) { ++heard; });
  CHECK(turn_until(at.loop, [&] { return ears.connected(); }));
  at.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  CHECK(!error_of([&] { at.publish("f", "1", "x"); }).empty());
  at.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
  at.publish("f", "2", "x");
  CHECK(turn_until(at.loop, [&] { return heard > 0; }));
  CHECK(heard == 1);
}

TEST_CASE("feeds: a command of another kind is refused with both kinds, and changes nothing") {
  Fixture at;
  at.feeds.create("f", FeedKind::feed, std::nullopt);
  at.feeds.create("j", FeedKind::job, std::nullopt);
  const std::string before = at.keys();
  CHECK(error_of([&] { at.publish("j", "1", "x"); }) ==
        "the feed j is of kind job, not feed; its commands are those of w8yctl job");
  CHECK(error_of([&] {
          QueueFeed(at.at(), "j").put({{"1", "x"}}, false);
        }) == "the feed j is of kind job, not queue; its commands are those of w8yctl job");
  CHECK(!error_of([&] { QueueFeed(at.at(), "f").get(); }).empty());
  CHECK(!error_of([&] { JobFeed(at.at(), "f").change(JobChange::retract, {"1"}); }).empty());
  CHECK(!error_of([&] { JobFeed(at.at(), "f").failures("1"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").insert({}, {"x"}); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").edit("1", "x"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").move({}, "1"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").retract({"1"}); }).empty());
  CHECK(!error_of([&] { Feed(at.at(), "j").item("1"); }).empty());
  CHECK(at.keys() == before);
  at.ask({"HSET", "feed.config:f", "type", "newer"});
  CHECK(error_of([&] { at.publish("f", "1", "x"); }) == "the feed f is of kind newer, not feed");
  at.ask({"HDEL", "feed.config:f", "type"});
  QueueFeed(at.at(), "f").put({{"1", "x"}}, false);
  CHECK(at.ask({"LLEN", "feed.ids:f"}) == "1");
}

TEST_CASE("feeds: keys of a wrong type are named, and nothing is changed") {
  for (const std::string key : {"feeds", "feed.config:j", "feed.ids:j", "feed.items:j",
                                "feed.published:j", "feed.claimed:j", "feed.cancelled:j",
                                "feed.stalled:j", "feed.finishes:j", "feed.publishes:j"}) {
    CAPTURE(key);
    Fixture at;
    at.feeds.create("j", FeedKind::job, std::nullopt);
    JobFeed jobs(at.at(), "j");
    jobs.put({{"a", "1"}}, false);
    at.ask({"DEL", key});
    at.ask({"XADD", key, "1-1", "is", "a stream"});
    int refused = 0;
    const auto tried = [&](auto&& call) {
      const std::string before = at.keys();
      const std::string error = error_of(call);
      if (error.empty()) return;  // it has no need of this key
      ++refused;
      CHECK((error.find(key) != std::string::npos || error.find("WRONGTYPE") == 0));
      CHECK(at.keys() == before);
    };
    tried([&] { jobs.put({{"b", "1"}}, false); });
    tried([&] { jobs.get(); });
    tried([&] { at.ids_of(jobs); });
    tried([&] { jobs.change(JobChange::retract, {"a"}); });
    CHECK(refused > 0);
    CHECK(at.ask({"XLEN", key}) == "1");
  }
}

TEST_CASE("feeds: names, ids and items are bytes of any length") {
  Fixture at;
  const Words names = {" ",         ":",        "with space", std::string("nul\0x", 5),
                       "new\nline", "\xff\xfe", "a:b:c",      "{tag}"};
  const std::string long_item(std::size_t{16} << 20, 'x');
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(at.feeds.create(name, FeedKind::feed, std::nullopt));
    Feed feed(at.at(), name);
    feed.publish({{"", ""}, {"new\nline", std::string("\0", 1)}, {"\xff", "\xfe"}});
    CHECK(feed.item("") == "");
    CHECK(feed.item("new\nline") == std::string("\0", 1));
    CHECK(at.ids_of(feed) == Words{"", "new\nline", "\xff"});
  }
  CHECK(at.feeds.list().size() == names.size());
  Feed feed(at.at(), " ");
  feed.publish({{"long", long_item}});
  CHECK(feed.item("long") == long_item);
  std::size_t bytes = 0;
  std::vector<std::pair<std::string, std::size_t>> too_long;
  feed.all([&](const std::string&, std::string&& item) { bytes += item.size(); }, too_long);
  CHECK(bytes == long_item.size() + 2);
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  QueueFeed queue(at.at(), "q");
  queue.put({{"1", long_item}, {"2", ""}}, false);
  CHECK(queue.get()->second == long_item);
  CHECK(queue.get()->second.empty());
  for (const auto& name : names) at.feeds.remove(name);
  CHECK(at.feeds.list().size() == 1);
}

TEST_CASE("feeds: an item that is longer than can be read is not taken and not lost") {
  Fixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  at.ask({"EVAL", "redis.call('HSET', KEYS[1], 'long', string.rep('x', 100000001))", "1",
          "feed.items:q"});
  at.ask({"RPUSH", "feed.ids:q", "long"});
  QueueFeed queue(at.at(), "q");
  CHECK(error_of([&] { queue.get(); }) ==
        "the next item, long, has 100000001 bytes, more than can be read; nothing was taken");
  CHECK(at.ask({"LLEN", "feed.ids:q"}) == "1");
}

TEST_CASE("feeds: who may do only what the contract has may do all of it, and nothing in part") {
  Fixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.feeds.create("f", FeedKind::feed, 1);
  at.ask({"ACL", "SETUSER", "only", "on", "nopass", "resetchannels", "~feeds", "~feed.*",
          "&job.finish:*", "+@all"});
  auto options = options_of(at.server.url());
  options.url.user = "only";
  options.url.password = Secret("x");
  redis::SyncClient client(at.loop, options);
  JobFeed jobs({client}, "j");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  jobs.get();
  CHECK(jobs.change(JobChange::cancel, {"a"})[0].done);
  jobs.get();
  CHECK(jobs.finish("b", "r").done);
  CHECK(jobs.change(JobChange::retract, {"a"})[0].done);
  // A channel that is missing: nothing of it is done.
  const std::string before = at.keys();
  Feed feed({client}, "f");
  CHECK(!error_of([&] { feed.publish({{"1", "x"}}); }).empty());
  CHECK(!error_of([&] { FeedDirectory({client}).create("g", FeedKind::feed, 1); }).empty());
  CHECK(!error_of([&] { FeedDirectory({client}).remove("f"); }).empty());
  CHECK(at.keys() == before);
  CHECK(at.ask({"SCARD", "feeds"}) == "2");
  at.ask({"ACL", "SETUSER", "only", "-eval", "-evalsha"});
  CHECK(error_of([&] {
          feed.publish({{"1", "x"}});
        }).find("commands about feeds are scripts, and the ACL of this user has no +eval") == 0);
}

TEST_CASE("feeds: in a cluster a feed is made and deleted in two steps, and works as elsewhere") {
  const Cluster cluster;
  loop::Loop loop;
  redis::SyncClient client(loop, options_of(cluster.url()));
  const FeedServer at{client, true};
  FeedDirectory feeds(at);
  CHECK(feeds.create("{j}obs", FeedKind::job, std::nullopt));
  CHECK(!feeds.create("{j}obs", FeedKind::job, std::nullopt));
  CHECK(feeds.find("{j}obs")->kind == "job");
  JobFeed jobs(at, "{j}obs");
  jobs.put({{"a", "1"}, {"b", "2"}}, false);
  CHECK(jobs.get() == FeedItem("a", "1"));
  CHECK(jobs.finish("a", "r").done);
  CHECK(feeds.config("{j}obs").size() == 1);
  feeds.set_config("{j}obs", "note", "x");
  CHECK(error_of([&] { QueueFeed(at, "{j}obs").get(); }).find("is of kind job") !=
        std::string::npos);
  CHECK(error_of([&] {
          QueueFeed(at, "{n}o").put({{"1", "x"}}, false);
        }).find("there is no feed") == 0);
  feeds.remove("{j}obs");
  CHECK(feeds.list().empty());
  for (const auto& node : cluster.nodes) CHECK(node->ask({"DBSIZE"}) == "0");
  CHECK(!error_of([&] { feeds.remove("{j}obs"); }).empty());
}

}  // namespace feed_test
