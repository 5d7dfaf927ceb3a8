// Keys and messages of feeds and sorted feeds, as the subcommands of w8yctl write them
// (w8y-keys(7)).
#include "store/feed_fixture.hpp"
#include "store/scripts.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

namespace feed_test {
namespace {

using Where = FeedPosition::Where;

}  // namespace

TEST_CASE("feeds: create stores the kind and the name of a feed and publishes them") {
  FeedFixture at;
  FeedMessages heard(at);
  CHECK(at.feeds.create("news", FeedKind::feed, 5));
  CHECK(!at.feeds.create("news", FeedKind::job, std::nullopt));
  CHECK(at.command({"SMEMBERS", "feeds"}) == "news");
  CHECK(at.command({"HGETALL", "feed.config:news"}) == "type\nfeed\nmax_length\n5");
  const Words told = heard.lines();
  REQUIRE(told.size() == 2);
  CHECK(told[0].substr(0, 13) == "newfeed news|");
  CHECK(told[0].size() == 13 + 32);
  CHECK(told[1] == "conffeed news|" + told[0].substr(13));

  at.feeds.set_config("news", "max_length", "7");
  CHECK(heard.lines() == Words{told[1]});
  CHECK(at.feeds.config("news") == FeedDirectory::Values{{"max_length", "7"}, {"type", "feed"}});
  at.feeds.create("a", FeedKind::queue, std::nullopt);
  at.command({"SADD", "feeds", "bare"});  // the contract requires no more of a client
  const auto list = at.feeds.list();
  REQUIRE(list.size() == 3);
  CHECK(list[0].feed == "a");
  CHECK(list[0].kind == "queue");
  CHECK(list[1].kind.empty());
}

TEST_CASE("feeds: a deleted feed leaves no key and no lease") {
  FeedFixture at;
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.feeds.create("other", FeedKind::job, std::nullopt);
  for (const char* hash : {"feed.items:j", "feed.cancelled:j", "j:claims", "j:kept-runs"})
    at.command({"HSET", hash, "a", "1"});
  for (const char* sorted : {"feed.published:j", "feed.claimed:j"})
    at.command({"ZADD", sorted, "1", "a", "2", "b"});
  for (const char* number : {"feed.publishes:j", "feed.idincr:j", "feed.finishes:j"})
    at.command({"INCR", number});
  at.command({"RPUSH", "feed.ids:j", "a"});
  at.command({"SADD", "feed.stalled:j", "c"});
  for (const char* lease : {"feed.lease:j:a", "feed.lease:j:b", "feed.lease:other:a"})
    at.command({"SET", lease, "x"});
  FeedMessages heard(at);
  at.feeds.remove("j");
  CHECK(at.keys() == "feed.config:other feed.lease:other:a feeds");
  const Words told = heard.lines();
  REQUIRE(told.size() == 1);
  CHECK(told[0].substr(0, 10) == "delfeed j|");
  CHECK(at.command({"SMEMBERS", "feeds"}) == "other");
  CHECK(error_of([&] { at.feeds.remove("j"); }) ==
        "there is no feed j; list feeds with \"w8yctl feed list\"");
}

namespace {

/// Creates a feed of jobs, and `count` claims with their leases. Claims with higher numbers are
/// newer.
void claim_many(FeedFixture& at, int count) {
  at.feeds.create("j", FeedKind::job, std::nullopt);
  at.command({"EVAL",
              "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, i) "
              "redis.call('SET', 'feed.lease:j:' .. i, 'x') end",
              "1", "feed.claimed:j", std::to_string(count)});
}
redis::ClientOptions options_without(const FeedFixture& at, const Words& rights) {
  Words words = {"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all"};
  words.insert(words.end(), rights.begin(), rights.end());
  at.command(words);
  auto options = options_for(at.server.url());
  options.url.user = "some";
  options.url.password = Secret("x");
  return options;
}

}  // namespace

TEST_CASE("feeds: a feed is deleted in one step, and the leases of many claims in several steps") {
  FeedFixture at;
  claim_many(at, 2500);
  FeedMessages heard(at);
  at.feeds.remove("j");
  CHECK(heard.lines().size() == 1);
  CHECK(at.keys().empty());
  // Without the permission to scan the claims, only the newest 1,000 leases are deleted.
  claim_many(at, 2500);
  redis::SyncClient client(at.loop, options_without(at, {"-zscan"}));
  FeedDirectory({client}).remove("j");
  CHECK(heard.lines().size() == 3);  // two of its creation
  CHECK(at.command({"DBSIZE"}) == "1500");
  CHECK(at.command({"EXISTS", "feed.lease:j:1500", "feed.lease:j:1501"}) == "1");
  // Claims in a feed that was created since are not deleted.
  at.command({"ZADD", "feed.claimed:j", "1", "7"});
  CHECK(
      at.client.run(scripts::feed_leases, {"feed.claimed:j"}, {"feed.lease:j:", "7", "8"}).number ==
      1);
  CHECK(at.command({"EXISTS", "feed.lease:j:7"}) == "1");
}

TEST_CASE("feeds: a config value is written before its message, and not if that is forbidden") {
  FeedFixture at;
  at.feeds.create("news", FeedKind::feed, 5);
  at.command({"CONFIG", "SET", "notify-keyspace-events", "Kh"});
  FeedMessages heard(at);
  at.feeds.set_config("news", "max_length", "7");
  const Words lines = heard.lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "__keyspace@0__:feed.config:news hset");
  CHECK(lines[1].substr(0, 14) == "conffeed news|");
  redis::SyncClient client(at.loop, options_without(at, {"resetchannels"}));
  for (const char* name : {"max_length", "note"}) {
    CAPTURE(name);
    CHECK(!error_of([&] { FeedDirectory({client}).set_config("news", name, "9"); }).empty());
  }
  CHECK(at.feeds.config("news") == FeedDirectory::Values{{"max_length", "7"}, {"type", "feed"}});
}

TEST_CASE("feeds: each id of a long feed is listed once, also while older items are removed") {
  FeedFixture at;
  at.feeds.create("news", FeedKind::feed, std::nullopt);
  at.command(
      {"EVAL", "for i = 1, 25000 do redis.call('ZADD', KEYS[1], i, i) end", "1", "feed.ids:news"});
  Feed feed(at.at(), "news");
  Words all;
  feed.ids([&](std::string&& id) {
    all.push_back(std::move(id));
    if (all.size() == 10'000 || all.size() == 19'000)  // within the first two parts
      at.command({"ZREMRANGEBYRANK", "feed.ids:news", "0", "299"});
  });
  REQUIRE(all.size() == 25'000);
  for (int i = 0; i < 25'000; ++i)
    if (all[static_cast<std::size_t>(i)] != std::to_string(i + 1)) FAIL(i);
}

TEST_CASE("feeds: publish, edit and retract write their keys and publish their messages") {
  FeedFixture at;
  at.feeds.create("news", FeedKind::feed, std::nullopt);
  FeedMessages heard(at);
  Feed feed(at.at(), "news");
  feed.publish({{"1", "one"}, {"2", "two"}});
  CHECK(heard.lines() == Words{"feed.publish:news 1|one", "feed.publish:news 2|two"});
  const double before = at.score("feed.ids:news", "1");
  CHECK(before > 1.7e12);
  CHECK(at.score("feed.ids:news", "2") > before);
  feed.publish({{"1", "more"}});
  CHECK(heard.lines() == Words{"feed.edit:news 1|more"});
  CHECK(at.ids_of(feed) == Words{"2", "1"});
  CHECK(at.command({"GET", "feed.publishes:news"}) == "3");
  CHECK(feed.item("1") == "more");
  CHECK(!feed.item("3"));
  Words all;
  std::vector<std::pair<std::string, std::size_t>> too_long;
  feed.all([&](const std::string& id, std::string&& item) { all.push_back(id + "=" + item); },
           too_long);
  CHECK(all == Words{"2=two", "1=more"});
  CHECK(feed.retract({"1", "nobody"}) == std::vector<bool>{true, false});
  CHECK(heard.lines() == Words{"feed.retract:news 1"});
  CHECK(at.command({"HKEYS", "feed.items:news"}) == "2");
  CHECK(at.command({"ZRANGE", "feed.ids:news", "0", "-1"}) == "2");
}

TEST_CASE("feeds: the newest max_length items stay, and an edited item counts once") {
  FeedFixture at;
  at.feeds.create("news", FeedKind::feed, 3);
  Feed feed(at.at(), "news");
  feed.publish({{"c", "1"}, {"b", "2"}, {"a", "3"}});  // within a millisecond, most likely
  FeedMessages heard(at);
  feed.publish({{"c", "again"}});
  CHECK(heard.lines() == Words{"feed.edit:news c|again"});
  CHECK(at.ids_of(feed) == Words{"b", "a", "c"});
  feed.publish({{"d", "4"}});
  CHECK(heard.lines() == Words{"feed.retract:news b", "feed.publish:news d|4"});
  CHECK(at.ids_of(feed) == Words{"a", "c", "d"});
  CHECK(at.command({"HLEN", "feed.items:news"}) == "3");
  at.feeds.set_config("news", "max_length", "1");
  feed.publish({{"a", "5"}});
  CHECK(at.ids_of(feed) == Words{"a"});
  at.feeds.set_config("news", "max_length", "0");
  feed.publish({{"e", "6"}});
  CHECK(at.ids_of(feed) == Words{"a", "e"});
}

TEST_CASE(
    "feeds: items beyond max_length are removed in steps, and the published item is the newest") {
  FeedFixture at;
  at.feeds.create("news", FeedKind::feed, std::nullopt);
  Feed feed(at.at(), "news");
  std::vector<FeedItem> items;
  for (int i = 0; i < 3500; ++i) items.emplace_back(std::to_string(i), "x");
  feed.publish(items);
  at.feeds.set_config("news", "max_length", "2");
  feed.publish({{"new", "x"}});
  CHECK(at.ids_of(feed) == Words{"3499", "new"});
  CHECK(at.command({"HLEN", "feed.items:news"}) == "2");
  CHECK(at.command({"GET", "feed.publishes:news"}) == "3501");
}

TEST_CASE("feeds: times are written in the unit of the feed, and a mix of units is reported") {
  FeedFixture at;
  at.feeds.create("old", FeedKind::feed, 10);
  at.command({"ZADD", "feed.ids:old", "1700000000.25", "a"});
  at.command({"HSET", "feed.items:old", "a", "x"});
  Feed feed(at.at(), "old");
  feed.publish({{"b", "x"}, {"c", "x"}});
  CHECK(at.score("feed.ids:old", "b") > 1.7e9);
  CHECK(at.score("feed.ids:old", "b") < 1e11);
  CHECK(at.score("feed.ids:old", "c") > at.score("feed.ids:old", "b"));
  CHECK(!feed.has_two_units());
  at.command({"ZADD", "feed.ids:old", "1700000000000", "d"});
  feed.publish({{"e", "x"}});
  CHECK(at.score("feed.ids:old", "e") > 1.7e12);
  CHECK(feed.has_two_units());
  // An infinite time does not affect later times.
  at.command({"ZADD", "feed.ids:old", "inf", "f"});
  feed.publish({{"g", "x"}});
  CHECK(at.score("feed.ids:old", "g") < 1e13);
  at.command({"DEL", "feed.ids:old", "feed.items:old"});
  feed.publish({{"h", "x"}});
  CHECK(at.score("feed.ids:old", "h") > 1.7e12);
}

TEST_CASE("feeds: an error names a max_length that is not a number, and nothing is published") {
  for (const char* wrong : {"", "-1", "abc", "1.5", "None", "0x10"}) {
    CAPTURE(wrong);
    FeedFixture at;
    at.feeds.create("news", FeedKind::feed, std::nullopt);
    at.command({"HSET", "feed.config:news", "max_length", wrong});
    const std::string error = error_of([&] { at.publish("news", "1", "x"); });
    CHECK(error.find("has a max_length of ") != std::string::npos);
    CHECK(at.keys() == "feed.config:news feeds");
  }
}

TEST_CASE("sorted feeds: items are in the requested positions, and the positions are published") {
  FeedFixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  FeedMessages heard(at);
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
  CHECK(at.command({"GET", "feed.publishes:top"}) == "6");
  CHECK(feed.edit("4", "FOUR"));
  CHECK(!feed.edit("7", "x"));
  CHECK(heard.lines() == Words{"feed.publish:top 4|FOUR"});
  CHECK(at.command({"GET", "feed.publishes:top"}) == "7");
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
  CHECK(at.command({"HLEN", "feed.items:top"}) == "5");
}

TEST_CASE("sorted feeds: a missing position, or the item itself as position, changes nothing") {
  FeedFixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  SortedFeed feed(at.at(), "top");
  feed.insert({Where::end, {}}, {"one", "two"});
  CHECK(error_of([&] {
          feed.insert({Where::before, "9"}, {"x"});
        }) == "cannot put the item before 9, which is not in the feed top");
  CHECK(error_of([&] {
          feed.insert({Where::after, ""}, {"x"});
        }).find("cannot put the item after ") != std::string::npos);
  CHECK(error_of([&] {
          feed.move({Where::after, "9"}, "1");
        }) == "cannot put the item after 9, which is not in the feed top");
  CHECK(error_of([&] { feed.move({Where::after, "1"}, "1"); }) == "1 cannot be moved after itself");
  CHECK(at.ids_of(feed) == Words{"1", "2"});
  CHECK(at.command({"GET", "feed.idincr:top"}) == "2");
  // An item whose id is no longer in the order cannot be a position.
  at.command({"LREM", "feed.ids:top", "0", "2"});
  CHECK(!error_of([&] { feed.move({Where::before, "2"}, "1"); }).empty());
  CHECK(at.ids_of(feed) == Words{"1"});
}

TEST_CASE("sorted feeds: no item is overwritten when the numbers start again") {
  FeedFixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  SortedFeed feed(at.at(), "top");
  feed.insert({Where::end, {}}, {"one", "two"});
  at.command({"DEL", "feed.idincr:top"});
  CHECK(feed.insert({Where::end, {}}, {"three"}) == Words{"3"});
  CHECK(feed.item("1") == "one");
}

TEST_CASE("sorted feeds: if the counter was lost, the next number follows all others") {
  FeedFixture at;
  at.feeds.create("top", FeedKind::sorted_feed, std::nullopt);
  SortedFeed feed(at.at(), "top");
  at.command(
      {"EVAL",
       "for i = 1, 20000 do redis.call('RPUSH', KEYS[1], i) redis.call('HSET', KEYS[2], i, 'x') "
       "end",
       "2", "feed.ids:top", "feed.items:top"});
  const auto next = [&] { return feed.insert({Where::end, {}}, {"new"}).at(0); };
  CHECK(next() == "20001");  // the last in the list
  CHECK(at.command({"GET", "feed.idincr:top"}) == "20001");
  // Only the count of published items is left.
  at.command({"SET", "feed.publishes:top", "30000"});
  at.command({"DEL", "feed.idincr:top"});
  CHECK(next() == "30001");
  // No key has the last number: it is searched for in steps that double, with one query each.
  for (const char* key : {"feed.idincr:top", "feed.publishes:top", "feed.ids:top"})
    at.command({"DEL", key});
  at.command({"CONFIG", "RESETSTAT"});
  const int found = std::stoi(next());
  CHECK(found > 20'000);
  CHECK(found <= 40'001);
  const std::string stats = at.command({"INFO", "commandstats"});
  const std::string looks = stats.substr(stats.find("cmdstat_hexists:calls=") + 22);
  CHECK(std::stoi(looks) < 50);
  CHECK(at.command({"HLEN", "feed.items:top"}) == "20003");
  CHECK(next() == std::to_string(found + 1));
  // The number of an item that another client has put is skipped.
  at.command({"HSET", "feed.items:top", std::to_string(found + 2), "other"});
  CHECK(next() == std::to_string(found + 3));
  CHECK(feed.item(std::to_string(found + 2)) == "other");
}

TEST_CASE("feeds: an item that Redis refuses to write is not published") {
  FeedFixture at;
  at.feeds.create("f", FeedKind::feed, std::nullopt);
  int heard = 0;
  auto options = options_for(at.server.url());
  redis::Subscriber ears(at.loop, options);
  const auto news =
      ears.subscribe("feed.publish:f", [&](std::string_view, std::string_view) { ++heard; });
  CHECK(turn_until(at.loop, [&] { return ears.connected(); }));
  at.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  CHECK(!error_of([&] { at.publish("f", "1", "x"); }).empty());
  at.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
  at.publish("f", "2", "x");
  CHECK(turn_until(at.loop, [&] { return heard > 0; }));
  CHECK(heard == 1);
}

}  // namespace feed_test
