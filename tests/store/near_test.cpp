// Claims near positions that a message or a peek has found.
#include <doctest/doctest.h>

#include "host.hpp"
#include "redis/sync.hpp"
#include "store/circular/item_changes.hpp"
#include "support/client_options.hpp"

using namespace w8y;
using namespace w8y::test;

namespace near_test {
namespace {

/// Host that waits for a list. Items "0", "1", … are delayed.
struct NearFixture {
  explicit NearFixture(int items) {
    std::vector<std::string> push{"RPUSH", "work:list"}, lock{"MSET"};
    for (int i = 0; i < items; ++i) {
      push.push_back(std::to_string(i));
      lock.insert(lock.end(), {"work:lock:" + std::to_string(i), "delay:backoff"});
    }
    server.command(push);
    server.command(lock);
    CHECK(host.claim(1).claims.empty());
    host.source.listen(true);
    CHECK(turn_until(loop, [&] {
      return server.command({"PUBSUB", "NUMSUB", "work:wake"}) == "work:wake\n1";
    }));
  }
  bool located() {
    return turn_until(loop, [&] { return host.reported.located == 1; });
  }

  RedisServer server;
  loop::Loop loop;
  Host host{loop, server.url(), list_rule()};
  redis::SyncClient client{loop, options_for(server.url())};
  store::ItemChanges changes{client, store::CircularKeys("work:")};
};

}  // namespace

TEST_CASE("an item in the middle of a long list that an operator releases is claimed at once") {
  NearFixture at(8000);
  SUBCASE("its delay ends") {
    at.changes.release({"3000"});
  }
  SUBCASE("its delay ends for another run") {
    at.changes.rerun("3000");
  }
  CHECK(at.located());
  CHECK(items_of(at.host.claim(1, store::Scan::ends)) == std::vector<Item>{"3000"});
  CHECK(at.host.reported.wakes == 0);
  // The claim has not moved it.
  CHECK(at.server.command({"LINDEX", "work:list", "3000"}) == "3000");
}

TEST_CASE("released items are found after hosts have rotated the list") {
  NearFixture at(8000);
  at.changes.release({"5000", "3000", "7000"});
  for (int i = 0; i < 100; ++i)
    at.server.command({"LMOVE", "work:list", "work:list", "LEFT", "RIGHT"});
  CHECK(at.located());
  const ClaimReply reply = at.host.claim(3, store::Scan::ends);
  CHECK(items_of(reply) == std::vector<Item>{"5000", "3000", "7000"});
  CHECK(reply.calls == 1);
}

TEST_CASE("an item of any length is found at its position") {
  for (const std::size_t length : {3000U, 100'000U}) {
    CAPTURE(length);
    RedisServer server;
    loop::Loop loop;
    Host host(loop, server.url(), list_rule());
    const std::string rest(length, '.');
    for (int i = 0; i < 400; ++i) {
      const std::string item = std::to_string(i) + rest;
      server.command({"RPUSH", "work:list", item});
      if (i > 0) server.command({"SET", "work:lock:" + item, "x"});
    }
    host.claim(1);
    server.command({"DEL", "work:lock:220" + rest});
    host.source.listen(true);
    CHECK(turn_until(loop, [&] {
      return server.command({"PUBSUB", "NUMSUB", "work:wake"}) == "work:wake\n1";
    }));
    server.command({"PUBLISH", "work:wake", "free\n\n180"});
    CHECK(turn_until(loop, [&] { return host.reported.located == 1; }));
    CHECK(items_of(host.claim(1, store::Scan::ends)) == std::vector<Item>{"220" + rest});
  }
}

TEST_CASE("a peek continues behind a free item that no claim can lock") {
  NearFixture at(1000);
  // The lock has the other name, which peeks do not examine.
  at.server.command({"RENAME", "work:lock:50", "work:proc:50"});
  at.server.command({"DEL", "work:lock:700"});
  bool found = false;
  for (int i = 0; i < 8 && !found; ++i) {
    at.host.reported.peeks.clear();
    at.host.source.look(store::Look::items);
    CHECK(turn_until(at.loop, [&] { return !at.host.reported.peeks.empty(); }));
    if (!at.host.reported.peeks[0].worth_it) continue;
    found = items_of(at.host.claim(1, store::Scan::ends)) == std::vector<Item>{"700"};
  }
  CHECK(found);
}

TEST_CASE("a message about many released items has no positions") {
  NearFixture at(100);
  std::vector<Item> items;
  for (int i = 0; i < 17; ++i) items.push_back(std::to_string(i));
  at.changes.release(items);
  CHECK(turn_until(at.loop, [&] { return at.host.reported.wakes == 1; }));
  CHECK(at.host.reported.located == 0);
}

TEST_CASE("a message with invalid positions is a wake-up like any other") {
  NearFixture at(1);
  for (const std::string& positions :
       std::vector<std::string>{"x", "-1", "", std::string(300, '1')})
    at.server.command({"PUBLISH", "work:wake", "free\n\n" + positions});
  CHECK(turn_until(at.loop, [&] { return at.host.reported.wakes == 4; }));
  at.server.command({"PUBLISH", "work:wake", "free\n\n999999999999999999999 0"});
  CHECK(at.located());
  CHECK(at.host.claim(1, store::Scan::ends).end == ClaimEnd::nothing_free);
}

}  // namespace near_test
