// Record of operators' changes of items and jobs (w8y-keys(7), work:changes).
#include "operator/item_changes.hpp"

#include <doctest/doctest.h>

#include "loop/loop.hpp"
#include "operator/changes.hpp"
#include "operator/job_feeds.hpp"
#include "operator/schedule_changes.hpp"
#include "redis/url.hpp"
#include "support/redis_server.hpp"

namespace item_changes_test {

using namespace w8y;
using namespace w8y::test;
using namespace w8y::verbs;

namespace {

redis::ClientOptions options_of(const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  return options;
}

/// Server with a list of three items, and an operator.
struct Place {
  /// `user`: ACL of the operator's Redis user; empty: the default user.
  explicit Place(const std::vector<std::string>& user = {}) {
    ask({"RPUSH", "work:list", "a", "b", "c"});
    std::string url = server.url();
    if (!user.empty()) {
      std::vector<std::string> words{"ACL", "SETUSER", "some", "on", ">secret"};
      words.insert(words.end(), user.begin(), user.end());
      ask(words);
      url.replace(0, std::string("unix://").size(), "unix://some:secret@");
    }
    options = options_of(url);
    client = std::make_unique<redis::SyncClient>(loop, options);
    query = std::make_unique<QueryContext>(
        QueryContext{*client, options, nullptr, "w8y-fleet", {}, "alice on web1"});
  }
  std::string ask(const std::vector<std::string>& words) const { return server.command(words); }
  /// Returns the changes of an item, the newest first: "released by alice on web1; …".
  std::string changes(const Item& item, const std::string& list = "work") {
    std::string text;
    for (const view::ItemChange& each : read_changes(*client, KeyNames(list), DisplayItem(item)))
      text += each.change + " by " + each.by + (each.reason.empty() ? "" : ": " + each.reason) +
              (each.time > WallTime{0} ? "; " : " without a time; ");
    return text;
  }

  RedisServer server;
  loop::Loop loop;
  redis::ClientOptions options;
  std::unique_ptr<redis::SyncClient> client;
  std::unique_ptr<QueryContext> query;
};

const ChangeNote by_alice{"alice on web1", "it eats \"the\" disk", WallTime(5)};

}  // namespace

TEST_CASE("each change of an item records the operator, the reason and the time") {
  Place place;
  quarantine_items(*place.query, "work", {"a", "b", "nowhere"}, by_alice);
  release_items(*place.query, "work", {"a", "c"});
  place.ask({"SET", "work:lock:b", "delay:backoff", "PX", "60000"});
  place.ask({"DEL", "work:quarantined"});
  rerun_items(*place.query, "work", {"b"});
  move_first(*place.query, "work", "b");
  remove_items(*place.query, "work", {"b"});
  add_items(*place.query, "work", {"b", "c"}, false);
  CHECK(place.changes("a") ==
        "released by alice on web1; quarantined by alice on web1: it eats \"the\" disk; ");
  CHECK(place.changes("b") ==
        "added by alice on web1; removed by alice on web1; moved first by alice on web1; rerun by "
        "alice on web1; quarantined by alice on web1: it eats \"the\" disk; ");
  // Nothing was changed.
  CHECK(place.changes("c").empty());
  CHECK(place.changes("nowhere").empty());
  const long life = std::stol(place.ask({"PTTL", "work:changes"}));
  CHECK(life > 604'700'000);
  CHECK(life <= 604'800'000);
}

TEST_CASE("changes without an operator are not recorded") {
  Place place;
  place.query->by.clear();
  release_items(*place.query, "work", {"a"});
  remove_items(*place.query, "work", {"a"});
  CHECK(place.ask({"EXISTS", "work:changes"}) == "0");
}

TEST_CASE("the record of changes keeps the last 1,000") {
  Place place;
  std::vector<Item> items;
  for (int i = 0; i < 1300; ++i) items.push_back("item-" + std::to_string(i));
  add_items(*place.query, "work", items, false);
  CHECK(place.ask({"LLEN", "work:changes"}) == "1000");
  CHECK(place.changes("item-299").empty());
  CHECK(place.changes("item-300") == "added by alice on web1; ");
  CHECK(place.changes("item-1299") == "added by alice on web1; ");
  remove_all(*place.query, "work", "free");
  CHECK(place.ask({"LLEN", "work:changes"}) == "1000");
  CHECK(place.changes("item-1299") == "removed by alice on web1; ");
}

TEST_CASE("items of any bytes and length have their own changes") {
  Place place;
  const std::vector<Item> items{std::string("\xff\0\n", 3), "\",\"item\":\"a\"",
                                std::string(100'000, 'x'), std::string(100'001, 'x'), ""};
  add_items(*place.query, "work", items, false);
  for (const Item& item : items) {
    CAPTURE(item.size());
    CHECK(place.changes(item) == "added by alice on web1; ");
  }
  CHECK(place.changes("a").empty());
  // Another program may have written anything.
  place.ask({"RPUSH", "work:changes", "{", R"({"item":"a"})", R"({"item":"a","change":7})"});
  CHECK(place.changes("a") == " by  without a time;  by  without a time; ");
}

TEST_CASE("a change without permission for its record is made") {
  for (const std::vector<std::string>& user :
       {std::vector<std::string>{"~work:list", "~work:lock:*", "~work:proc:*", "~work:failures",
                                 "~work:quarantined", "~work:reruns", "&*", "+@all"},
        std::vector<std::string>{"~*", "&*", "+@all", "-lpush"},
        std::vector<std::string>{"~*", "&*", "+@all", "-ltrim"}}) {
    CAPTURE(user.back());
    Place place(user);
    CHECK(remove_items(*place.query, "work", {"a"}).front().done);
    CHECK(place.ask({"LRANGE", "work:list", "0", "-1"}) == "b\nc");
    CHECK(place.changes("a").empty());
    CHECK(place.ask({"EXISTS", "work:changes"}) == "0");
  }
  // A key of another type stays.
  Place place;
  place.ask({"SET", "work:changes", "mine"});
  CHECK(remove_items(*place.query, "work", {"a"}).front().done);
  CHECK(place.changes("a").empty());
  CHECK(place.ask({"GET", "work:changes"}) == "mine");
}

TEST_CASE("changes of jobs are recorded beside the keys of their feed or schedule") {
  Place place;
  place.ask({"SADD", "feeds", "sums"});
  place.ask({"HSET", "feed.config:sums", "type", "job"});
  JobFeed feed({*place.client, false, "alice on web1"}, "sums");
  REQUIRE(feed.put_unique({.id = "j1", .payload = "x", .is_new = false}));
  CHECK_FALSE(feed.put_unique({.id = "j1", .payload = "x", .is_new = false}));
  CHECK(feed.change(JobChange::next, {"j1"}).front().done);
  CHECK_FALSE(feed.change(JobChange::retry, {"j1"}).front().done);
  place.ask({"LREM", "feed.ids:sums", "0", "j1"});
  place.ask({"SADD", "feed.stalled:sums", "j1"});
  CHECK(feed.change(JobChange::retry, {"j1"}).front().done);
  REQUIRE(feed.get());
  CHECK(feed.fail({"j1"}, {0, HistoryLimits::none(), "web1", "no answer"}).jobs.front().done);
  CHECK(feed.change(JobChange::retract, {"j1"}).front().done);
  CHECK(place.changes("j1", "sums") ==
        "retracted by alice on web1; failed by alice on web1: no answer; retried by alice on web1; "
        "moved first by alice on web1; added by alice on web1; ");

  ScheduleChanges schedule(*place.client, ScheduleKeys("bike"), "alice on web1");
  schedule.set({{"daily:A", "STOP", store::StopJob{}}});
  CHECK(schedule.run_now("daily:A") == RunNow::entered);
  CHECK(schedule.unset("daily:A"));
  CHECK_FALSE(schedule.unset("daily:A"));
  CHECK(place.changes("daily:A", "bike") ==
        "unset by alice on web1; started by alice on web1; set by alice on web1; ");
}

}  // namespace item_changes_test
