// Changes of the items of one group of errors, on a real server.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "loop/loop.hpp"
#include "operator/error_changes.hpp"
#include "operator/error_groups.hpp"
#include "redis/sync.hpp"
#include "support/client_options.hpp"
#include "support/redis_server.hpp"

using namespace w8y;
using namespace w8y::test;
using verbs::GroupChange;

namespace error_group_test {
namespace {

struct Fixture {
  verbs::QueryContext query() { return {client, reach, lists ? &*lists : nullptr, "w8y-fleet"}; }
  /// Adds failed runs of the items i1, i2 … to the history.
  void fail(const std::string& list, int items) {
    server.command(
        {"EVAL",
         "for i = 1, ARGV[1] do redis.call('LPUSH', KEYS[1], string.format('{\"entered_ms\":%d,"
         "\"run\":\"R%d\",\"item\":\"i%d\",\"host\":\"a\",\"outcome\":\"failed\",\"reason\":\"no\"}"
         "',"
         " 1600000000000 + i, i, i)) end",
         "1", list + ":failed-runs", std::to_string(items)});
  }
  /// ID of the only group of the list.
  std::string group_of(const std::string& list) {
    verbs::QueryContext query = this->query();
    const auto groups = verbs::group_errors(query, {.list = list}).groups;
    REQUIRE(groups.size() == 1);
    return groups[0].id;
  }
  verbs::ChangedGroup change(const std::string& list, GroupChange how) {
    verbs::QueryContext query = this->query();
    return verbs::change_group(query, list, group_of(list), std::nullopt, how, {"anna", "no", {}});
  }
  std::string error_of(const std::string& list, GroupChange how) {
    try {
      change(list, how);
    } catch (const verbs::QueryError& error) {
      return std::to_string(error.status()) + " " + error.what();
    }
    return "";
  }

  RedisServer server;
  loop::Loop loop;
  redis::ClientOptions reach = options_for(server.url());
  redis::SyncClient client{loop, reach};
  std::optional<verbs::KnownLists> lists;
};

}  // namespace

TEST_CASE("a change of a group counts only the items that differ from before") {
  Fixture f;
  f.fail("films", 3);
  f.server.command({"RPUSH", "films:list", "i1", "i2", "i3"});
  f.server.command({"SET", "films:lock:i3", "run:a:1:R9"});
  CHECK(f.change("films", GroupChange::quarantine).changed() == 3);
  const verbs::ChangedGroup again = f.change("films", GroupChange::quarantine);
  CHECK(again.changed() == 0);
  for (const auto& each : again.items) CHECK(each.done);
  f.server.command({"DEL", "films:lock:i3"});
  CHECK(f.change("films", GroupChange::release).changed() >= 2);
  CHECK(f.change("films", GroupChange::release).changed() == 0);
}

TEST_CASE("the error of a change that does not apply to a list names another command") {
  Fixture f;
  f.fail("films", 1);
  f.fail("mails", 1);
  std::map<std::string, verbs::KnownList> lists;
  lists["films"] = {};
  lists["mails"].kind = &traits_of(SourceKind::job);
  lists["pages"].kind = &traits_of(SourceKind::schedule);
  lists["pages"].key_prefix = "bike";
  f.lists.emplace(lists);
  f.server.command({"RENAME", "films:failed-runs", "bike:failed-runs:pages"});
  f.fail("films", 1);
  for (const GroupChange how : {GroupChange::release, GroupChange::quarantine}) {
    const std::string feed = f.error_of("mails", how);
    CHECK(feed.starts_with("409 mails is a feed of jobs; "));
    CHECK(feed.find("w8yctl errors mails ") != std::string::npos);
    CHECK(feed.ends_with(" --retry"));
  }
  for (const GroupChange how :
       {GroupChange::release, GroupChange::quarantine, GroupChange::retry}) {
    const std::string schedule = f.error_of("pages", how);
    CHECK(schedule.starts_with("409 pages is a schedule"));
    CHECK(schedule.ends_with("w8yctl schedule -k bike set JOB NOW"));
  }
  CHECK(f.error_of("films", GroupChange::retry).ends_with(" --release"));
}

TEST_CASE("a retry in a cluster refuses a feed without a hash tag") {
  Fixture f;
  f.fail("mails", 1);
  std::map<std::string, verbs::KnownList> lists;
  lists["mails"].kind = &traits_of(SourceKind::job);
  f.lists.emplace(lists);
  f.reach.url.kind = redis::Url::Kind::cluster;
  CHECK(f.error_of("mails", GroupChange::retry).starts_with("400 the feed mails has no hash tag"));
}

TEST_CASE("a change of a group with more than 100,000 items is not complete") {
  Fixture f;
  f.fail("films", static_cast<int>(verbs::max_found_items));
  verbs::QueryContext query = f.query();
  const std::string group = f.group_of("films");
  const verbs::ErrorItems all = verbs::items_of_group(query, "films", group, std::nullopt);
  CHECK(all.complete);
  CHECK(all.items.size() == verbs::max_found_items);
  f.fail("films", static_cast<int>(verbs::max_found_items) + 1);
  const verbs::ChangedGroup some = verbs::change_group(query, "films", group, std::nullopt,
                                                       GroupChange::release, {"anna", "no", {}});
  CHECK(!some.complete);
  CHECK(some.items.size() == verbs::max_found_items);
}

}  // namespace error_group_test
