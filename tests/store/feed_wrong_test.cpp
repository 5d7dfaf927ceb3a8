// Feeds, queues and jobs: wrong kinds and types, long items, missing permissions, and clusters.
#include "store/feed_fixture.hpp"
#include "support/cluster.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

namespace feed_wrong_test {

TEST_CASE("feeds: a change of another kind is refused with both kinds, and changes no key") {
  FeedFixture at;
  at.feeds.create("f", FeedKind::feed, std::nullopt);
  at.feeds.create("j", FeedKind::job, std::nullopt);
  const std::string before = at.keys();
  CHECK(error_of([&] { at.publish("j", "1", "x"); }) ==
        "the feed j is of kind job, not feed; use the subcommands of w8yctl job");
  CHECK(error_of([&] {
          QueueFeed(at.at(), "j").put({{"1", "x"}}, false);
        }) == "the feed j is of kind job, not queue; use the subcommands of w8yctl job");
  CHECK(!error_of([&] { QueueFeed(at.at(), "f").get(); }).empty());
  CHECK(!error_of([&] { JobFeed(at.at(), "f").change(JobChange::retract, {"1"}); }).empty());
  CHECK(!error_of([&] { JobFeed(at.at(), "f").failures("1"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").insert({}, {"x"}); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").edit("1", "x"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").move({}, "1"); }).empty());
  CHECK(!error_of([&] { SortedFeed(at.at(), "f").retract({"1"}); }).empty());
  CHECK(!error_of([&] { Feed(at.at(), "j").item("1"); }).empty());
  CHECK(at.keys() == before);
  at.command({"HSET", "feed.config:f", "type", "newer"});
  CHECK(error_of([&] { at.publish("f", "1", "x"); }) == "the feed f is of kind newer, not feed");
  at.command({"HDEL", "feed.config:f", "type"});
  QueueFeed(at.at(), "f").put({{"1", "x"}}, false);
  CHECK(at.command({"LLEN", "feed.ids:f"}) == "1");
}

TEST_CASE("feeds: an error names the key of a wrong type, and no key is changed") {
  for (const std::string key : {"feeds", "feed.config:j", "feed.ids:j", "feed.items:j",
                                "feed.published:j", "feed.claimed:j", "feed.cancelled:j",
                                "feed.stalled:j", "feed.finishes:j", "feed.publishes:j"}) {
    CAPTURE(key);
    FeedFixture at;
    at.feeds.create("j", FeedKind::job, std::nullopt);
    JobFeed jobs(at.at(), "j");
    jobs.put({{"a", "1"}}, false);
    at.command({"DEL", key});
    at.command({"XADD", key, "1-1", "is", "a stream"});
    int refused = 0;
    const auto tried = [&](auto&& call) {
      const std::string before = at.keys();
      const std::string error = error_of(call);
      if (error.empty()) return;  // the call does not use this key
      ++refused;
      CHECK((error.find(key) != std::string::npos || error.find("WRONGTYPE") == 0));
      CHECK(at.keys() == before);
    };
    tried([&] { jobs.put({{"b", "1"}}, false); });
    tried([&] { jobs.get(); });
    tried([&] { at.ids_of(jobs); });
    tried([&] { jobs.change(JobChange::retract, {"a"}); });
    CHECK(refused > 0);
    CHECK(at.command({"XLEN", key}) == "1");
  }
}

TEST_CASE("sorted feeds: an error names the key of a wrong type, and no key is changed") {
  for (const std::string key :
       {"feed.config:s", "feed.ids:s", "feed.items:s", "feed.publishes:s", "feed.idincr:s"}) {
    CAPTURE(key);
    FeedFixture at;
    at.feeds.create("s", FeedKind::sorted_feed, std::nullopt);
    SortedFeed feed(at.at(), "s");
    feed.insert({}, {"one", "two"});
    at.command({"DEL", key});
    at.command({"XADD", key, "1-1", "is", "a stream"});
    const auto tried = [&](auto&& call) {
      const std::string before = at.keys() + at.command({"LLEN", "feed.ids:s"});
      const std::string error = error_of(call);
      if (!error.empty()) CHECK(error.find(key) != std::string::npos);
      if (!error.empty()) CHECK(at.keys() + at.command({"LLEN", "feed.ids:s"}) == before);
      return !error.empty();
    };
    CHECK(tried([&] { feed.insert({}, {"three"}); }));
    tried([&] { feed.move({}, "1"); });
    tried([&] { feed.edit("1", "x"); });
    tried([&] { feed.retract({"1"}); });
    CHECK(at.command({"XLEN", key}) == "1");
    at.feeds.remove("s");  // works with keys of any type
    CHECK(at.keys().empty());
  }
}

TEST_CASE("feeds: names, ids and items are bytes of any length") {
  FeedFixture at;
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

TEST_CASE("feeds: an item that is too long to be read stays in its queue") {
  FeedFixture at;
  at.feeds.create("q", FeedKind::queue, std::nullopt);
  at.command({"EVAL", "redis.call('HSET', KEYS[1], 'long', string.rep('x', 100000001))", "1",
              "feed.items:q"});
  at.command({"RPUSH", "feed.ids:q", "long"});
  QueueFeed queue(at.at(), "q");
  CHECK(error_of([&] { queue.get(); }) ==
        "the next item, long, has 100000001 bytes, more than can be read; nothing was removed");
  CHECK(at.command({"LLEN", "feed.ids:q"}) == "1");
}

TEST_CASE("feeds: the permissions of the contract suffice, and no change is made in part") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.feeds.create("f", FeedKind::feed, 1);
  at.command({"ACL", "SETUSER", "only", "on", "nopass", "resetchannels", "~feeds", "~feed.*",
              "&job.finish:*", "+@all"});
  auto options = options_for(at.server.url());
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
  // Without the permission for a channel, no change is made.
  const std::string before = at.keys();
  Feed feed({client}, "f");
  CHECK(!error_of([&] { feed.publish({{"1", "x"}}); }).empty());
  CHECK(!error_of([&] { FeedDirectory({client}).create("g", FeedKind::feed, 1); }).empty());
  CHECK(!error_of([&] { FeedDirectory({client}).remove("f"); }).empty());
  CHECK(at.keys() == before);
  CHECK(at.command({"SCARD", "feeds"}) == "2");
  at.command({"ACL", "SETUSER", "only", "-eval", "-evalsha"});
  CHECK(error_of([&] { feed.publish({{"1", "x"}}); }).find("NOPERM") == 0);
}

TEST_CASE(
    "feeds: a feed in a cluster is created and deleted in two steps, and works as elsewhere") {
  const Cluster cluster;
  loop::Loop loop;
  redis::SyncClient client(loop, options_for(cluster.url()));
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
  for (const auto& node : cluster.nodes) CHECK(node->command({"DBSIZE"}) == "0");
  CHECK(!error_of([&] { feeds.remove("{j}obs"); }).empty());
}

}  // namespace feed_wrong_test
