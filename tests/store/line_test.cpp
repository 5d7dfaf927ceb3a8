// Wait queue of the hosts on one list: order of the turns, and the delay that a dead host causes.
#include <doctest/doctest.h>

#include "host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace line_test {
namespace {

/// Subscribes, and waits until `channels` channels are confirmed. The list calls on_back() for each
/// of them, and once for its connection.
void hear(Host& host, int channels = 1) {
  CHECK(turn_until(host.loop, [&] { return host.session->client.connected(); }));
  turn_until(host.loop, [&] { return host.reported.backs > 0; });
  const int backs = host.reported.backs;
  host.source.listen(true);
  CHECK(turn_until(host.loop, [&] { return host.reported.backs >= backs + channels; }));
}

/// Claims, joins the wait queue and subscribes to its turns.
ClaimReply stand_in_line(Host& host, std::size_t wanted = 5) {
  const ClaimReply reply = host.claim(wanted);
  hear(host, 2);
  return reply;
}

/// Three hosts on one list. The first one holds its items, the others are in the wait queue.
struct Waiting {
  explicit Waiting(const std::vector<std::string>& items, ListConfig rule = list_rule()) {
    std::vector<std::string> push{"RPUSH", "work:list"};
    push.insert(push.end(), items.begin(), items.end());
    server.command(push);
    for (const std::string name : {"one", "two", "three"})
      hosts.push_back(std::make_unique<Host>(loop, server.url(), rule, name));
    // The first host has waited before, so it is subscribed to its turns too.
    for (const auto& item : items) server.command({"SET", "work:lock:" + item, "run:x:1:y"});
    stand_in_line(*hosts[0]);
    hosts[0]->source.leave_queue();
    for (const auto& item : items) server.command({"DEL", "work:lock:" + item});
    held = hosts[0]->claim(items.size() + 1).claims;
    CHECK(held.size() == items.size());
    for (const std::size_t other : {1U, 2U}) {
      CHECK(stand_in_line(*hosts[other]).claims.empty());
      turn_for(loop, 2ms);  // so that no two hosts join at the same time
    }
    CHECK(hosts[2]->reported.replies.back().wait_queue != WaitQueue::none);
    CHECK(waiting() == "2");
  }
  /// Returns the number of turns that each host has had since the last call.
  std::vector<int> turns() {
    turn_for(loop, 20ms);
    std::vector<int> told;
    for (auto& host : hosts) told.push_back(std::exchange(host->reported.turns, 0));
    return told;
  }
  std::string waiting() { return server.command({"ZCARD", "work:waiting"}); }

  RedisServer server;
  loop::Loop loop;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<Claim> held;
};

using Turns = std::vector<int>;

}  // namespace

TEST_CASE("a free item goes to the waiter that has waited longest, not to its last holder") {
  Waiting three({"a"});
  for (const std::size_t next : {1U, 2U, 0U, 1U, 2U}) {
    const std::size_t has = (next + 2) % 3;
    three.hosts[has]->settle(three.hosts[has]->reported.claims.back());
    CHECK(three.hosts[has]->settled());
    Turns expected{0, 0, 0};
    expected[next] = 1;
    REQUIRE(three.turns() == expected);
    CHECK(items_of(three.hosts[has]->claim(5)).empty());
    const ClaimReply reply = three.hosts[next]->claim(5);
    REQUIRE(items_of(reply) == std::vector<Item>{"a"});
    CHECK(reply.wait_queue == WaitQueue::crowded);
  }
}

TEST_CASE("a host that has never waited leaves a free item to the waiter") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host one(loop, server.url(), list_rule(), "one");
  Host two(loop, server.url(), list_rule(), "two");
  const auto held = one.claim(1).claims;
  REQUIRE(held.size() == 1);
  CHECK(stand_in_line(two, 1).claims.empty());
  one.settle(held[0]);
  CHECK(items_of(one.claim(1)).empty());
  CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
  CHECK(items_of(two.claim(1)) == std::vector<Item>{"a"});
}

TEST_CASE("a waiter that does not use its turn delays the next waiter by 250 ms") {
  Waiting three({"a"});
  three.hosts[0]->settle(three.held[0]);
  CHECK(three.hosts[0]->settled());
  CHECK(three.turns() == Turns{0, 1, 0});
  // The item is kept for the waiter, even if another host ignores the wait queue.
  CHECK(items_of(three.hosts[2]->claim(5, store::Scan::whole, store::Manner::overdue)).empty());
  const auto since = three.loop.now();
  while (three.hosts[2]->claim(5, store::Scan::whole, store::Manner::overdue).claims.empty() &&
         three.loop.now() - since < 5s)
    turn_for(three.loop, 10ms);
  CHECK(three.loop.now() - since < 500ms);
}

TEST_CASE("a waiter that claims after the end of its turn keeps it") {
  Waiting three({"a"});
  three.hosts[0]->settle(three.held[0]);
  CHECK(three.hosts[0]->settled());
  CHECK(three.turns() == Turns{0, 1, 0});
  turn_for(three.loop, 260ms);
  CHECK(items_of(three.hosts[1]->claim(5)) == std::vector<Item>{"a"});
  CHECK(three.turns() == Turns{0, 0, 0});
}

TEST_CASE("fifteen waiters that do not use their turns delay an item by four turns") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:lock:a", "run:x:1:y"});
  loop::Loop loop;
  std::vector<std::unique_ptr<Host>> dead;
  for (int i = 0; i < 15; ++i) {
    dead.push_back(
        std::make_unique<Host>(loop, server.url(), list_rule(), "dead" + std::to_string(i)));
    CHECK(stand_in_line(*dead.back(), 1).claims.empty());
    turn_for(loop, 2ms);  // so that no two hosts join at the same time
  }
  Host host(loop, server.url(), list_rule(), "alive");
  CHECK(stand_in_line(host, 1).claims.empty());
  server.command({"DEL", "work:lock:a"});
  CHECK(host.claim(1).claims.empty());  // gives a turn to the first waiter
  const auto waiting = [&] { return std::stoi(server.command({"ZCARD", "work:waiting"})); };
  for (const int left : {16 - 1, 16 - 3, 16 - 7}) {
    turn_for(loop, 260ms);
    const ClaimReply reply = host.claim(1);
    CHECK(reply.claims.empty());
    CHECK(reply.next_free == 251ms);
    CHECK(waiting() == left);
  }
  turn_for(loop, 260ms);
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"a"});
  CHECK(waiting() == 0);
}

TEST_CASE("a host that leaves the wait queue with a claim in flight is not in it afterwards") {
  Waiting three({"a"});
  REQUIRE(three.waiting() == "2");
  Host& leaver = *three.hosts[1];
  leaver.source.leave_queue();
  CHECK(turn_until(three.loop, [&] { return three.waiting() == "1"; }));
  const std::size_t before = leaver.reported.replies.size();
  leaver.source.claim(1, store::Scan::whole, store::Manner::in_turn);
  leaver.source.leave_queue();
  CHECK(turn_until(three.loop, [&] { return leaver.reported.replies.size() > before; }));
  CHECK(turn_until(three.loop, [&] { return three.waiting() == "1"; }));
}

TEST_CASE("a host that claims all items or has nothing to wait for leaves the wait queue") {
  Waiting three({"a"});
  three.hosts[2]->source.leave_queue();
  CHECK(turn_until(three.loop, [&] { return three.waiting() == "1"; }));
  SUBCASE("it claims all items") {
    three.hosts[0]->settle(three.held[0]);
    CHECK(three.hosts[0]->settled());
    CHECK(items_of(three.hosts[1]->claim(5)) == std::vector<Item>{"a"});
  }
  SUBCASE("the list is empty") {
    three.server.command({"DEL", "work:list"});
    CHECK(three.hosts[1]->claim(5).end == ClaimEnd::empty);
  }
  SUBCASE("the list is paused") {
    three.server.command({"SET", "work:paused", "a while"});
    CHECK(three.hosts[1]->claim(5).end == ClaimEnd::paused);
  }
  CHECK(three.waiting() == "0");
}

TEST_CASE("a host that leaves the wait queue in its turn passes the turn on") {
  Waiting three({"a"});
  three.hosts[0]->settle(three.held[0]);
  CHECK(three.hosts[0]->settled());
  CHECK(three.turns() == Turns{0, 1, 0});
  three.hosts[1]->source.leave_queue();
  CHECK(three.turns() == Turns{0, 0, 1});
  three.hosts[2]->source.listen(false);
  CHECK(three.turns() == Turns{0, 0, 0});
  CHECK(three.waiting() == "0");
  CHECK(items_of(three.hosts[0]->claim(5)) == std::vector<Item>{"a"});
}

TEST_CASE("a host claims its fair share of a list, and no more while others wait") {
  Waiting three({"a", "b", "c", "d", "e", "f"});
  for (int i = 0; i < 4; ++i) three.hosts[0]->settle(three.held[static_cast<std::size_t>(i)]);
  CHECK(three.hosts[0]->settled());
  // Six items and two waiters: up to three of the free items each.
  CHECK(three.turns() == Turns{0, 1, 1});
  CHECK(items_of(three.hosts[1]->claim(5)).size() == 3);
  CHECK(items_of(three.hosts[2]->claim(5)).size() == 1);
  for (auto& host : three.hosts) CHECK(items_of(host->claim(5)).empty());
}

TEST_CASE("a free item goes to the first waiter unless a claim does not use the wait queue") {
  Waiting three({"a"});
  SUBCASE("an unsupervised host") {
    three.hosts[0]->settle(three.held[0]);
    CHECK(three.hosts[0]->settled());
    ListConfig of_one_item = list_rule();
    of_one_item.supervised = false;
    Host passer(three.loop, three.server.url(), of_one_item, "passer");
    CHECK(items_of(passer.claim(1)) == std::vector<Item>{"a"});
    CHECK(items_of(three.hosts[1]->claim(5)).empty());
  }
  SUBCASE("the end of a delay") {
    three.hosts[0]->settle(three.held[0], store::RestFor{false, 50ms});
    CHECK(three.hosts[0]->settled());
    CHECK(three.turns() == Turns{0, 0, 0});
    turn_for(three.loop, 60ms);
    CHECK(items_of(three.hosts[0]->claim(5)).empty());
    CHECK(three.turns() == Turns{0, 1, 0});
  }
  SUBCASE("a wait queue key of a wrong type") {
    three.server.command({"DEL", "work:waiting"});
    three.server.command({"RPUSH", "work:waiting", "mine"});
    three.hosts[0]->settle(three.held[0]);
    CHECK(three.hosts[0]->settled());
    CHECK(items_of(three.hosts[1]->claim(1)) == std::vector<Item>{"a"});
    CHECK(three.server.command({"LRANGE", "work:waiting", "0", "-1"}).find("mine") !=
          std::string::npos);
  }
}

TEST_CASE("a free fleet slot goes to the next waiter too") {
  ListConfig rule = list_rule();
  rule.fleet_concurrency = 1;
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  loop::Loop loop;
  Host one(loop, server.url(), rule, "one");
  Host two(loop, server.url(), rule, "two");
  const ClaimReply first = one.claim(1);
  CHECK(first.claims.size() == 1);
  CHECK(stand_in_line(two, 1).end == ClaimEnd::fleet_full);
  one.settle(first.claims[0]);
  CHECK(one.claim(1).claims.empty());
  CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
  CHECK(two.claim(1).claims.size() == 1);
}

TEST_CASE("a new item at the end of a long list goes to the next waiter") {
  ListConfig rule = list_rule();
  rule.fleet_concurrency = 2;  // less than one slot for each host
  RedisServer server;
  loop::Loop loop;
  Host one(loop, server.url(), rule, "one");
  Host two(loop, server.url(), rule, "two");
  Host three(loop, server.url(), rule, "three");
  for (int i = 0; i < 30; ++i) {
    const std::string item = "item" + std::to_string(i);
    server.command({"RPUSH", "work:list", item});
    server.command({"SET", "work:lock:" + item, "run:x:1:y"});
  }
  for (Host* host : {&one, &two, &three}) {
    CHECK(stand_in_line(*host, 1).claims.empty());
    turn_for(loop, 2ms);  // so that no two hosts join at the same time
  }
  SUBCASE("no other item is free") {
    server.command({"RPUSH", "work:list", "new"});
    CHECK(three.claim(1).claims.empty());
    CHECK(turn_until(loop, [&] { return one.reported.turns == 1; }));
    CHECK(items_of(one.claim(1)) == std::vector<Item>{"new"});
  }
  SUBCASE("an item at the left end is free too") {
    server.command({"DEL", "work:lock:item0"});
    server.command({"RPUSH", "work:list", "new"});
    CHECK(items_of(one.claim(1)) == std::vector<Item>{"item0"});
    CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
  }
  SUBCASE("a waiter has been notified of another item") {
    server.command({"DEL", "work:lock:item0"});
    CHECK(three.claim(1).claims.empty());
    CHECK(turn_until(loop, [&] { return one.reported.turns == 1; }));
    server.command({"RPUSH", "work:list", "new"});
    CHECK(three.claim(1).claims.empty());
    CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
  }
}

TEST_CASE("a host leaves a free item to each waiter, even if its share of the list is larger") {
  RedisServer server;
  loop::Loop loop;
  Host one(loop, server.url(), list_rule(), "one");
  Host two(loop, server.url(), list_rule(), "two");
  Host three(loop, server.url(), list_rule(), "three");
  const auto lock_of = [](int i) { return "work:lock:item" + std::to_string(i); };
  for (int i = 0; i < 60; ++i) {
    server.command({"RPUSH", "work:list", "item" + std::to_string(i)});
    server.command({"SET", lock_of(i), "run:x:1:y"});
  }
  for (Host* host : {&one, &two, &three}) {
    CHECK(stand_in_line(*host).claims.empty());
    turn_for(loop, 2ms);  // so that no two hosts join at the same time
  }
  const auto claim = [](Host& host, std::size_t wanted) {
    return host.claim(wanted, store::Scan::ends, store::Manner::in_turn).claims.size();
  };
  SUBCASE("most items are delayed") {
    for (int i = 0; i < 3; ++i) server.command({"DEL", lock_of(i)});
    CHECK(claim(three, 5) == 1);
    CHECK(turn_until(loop, [&] { return one.reported.turns == 1 && two.reported.turns == 1; }));
    CHECK(claim(one, 5) == 1);
    CHECK(claim(two, 5) == 1);
  }
  SUBCASE("the next waiter claims one of two free items before it receives a message") {
    for (int i = 0; i < 2; ++i) server.command({"DEL", lock_of(i)});
    CHECK(claim(one, 1) == 1);
    CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
    CHECK(one.reported.turns == 0);
  }
  SUBCASE("two items are free, and two other hosts wait") {
    for (int i = 0; i < 2; ++i) server.command({"DEL", lock_of(i)});
    CHECK(claim(three, 5) == 0);
    CHECK(turn_until(loop, [&] { return one.reported.turns == 1 && two.reported.turns == 1; }));
  }
  SUBCASE("all items are free, and long") {
    server.command({"DEL", "work:list"});
    for (int i = 0; i < 20; ++i)
      server.command({"RPUSH", "work:list", std::to_string(i) + std::string(300'000, 'x')});
    CHECK(claim(three, 6) == 2);
  }
  SUBCASE("few items that are long, one free at each end") {
    server.command({"DEL", "work:list"});
    for (int i = 0; i < 10; ++i) {
      const std::string item = std::to_string(i) + std::string(80'000, 'x');
      server.command({"RPUSH", "work:list", item});
      if (i > 0) server.command({"SET", "work:lock:" + item, "run:x:1:y"});
    }
    server.command({"RPUSH", "work:list", "new"});
    CHECK(claim(one, 5) == 1);
    CHECK(turn_until(loop, [&] { return two.reported.turns == 1; }));
  }
  SUBCASE("all items are free") {
    for (int i = 0; i < 60; ++i) server.command({"DEL", lock_of(i)});
    CHECK(claim(three, 6) == 2);
    CHECK(claim(one, 6) == 2);
  }
}

TEST_CASE("a busy host unsubscribes after 64 messages") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  hear(host);
  host.source.may_stop_listening();
  const auto listeners = [&] { return server.command({"PUBSUB", "NUMSUB", "work:wake"}); };
  for (int i = 0; i < 63; ++i) server.command({"PUBLISH", "work:wake", "free\nrun:other:1:"});
  CHECK(turn_until(loop, [&] { return host.reported.wakes == 63; }));
  CHECK(listeners() == "work:wake\n1");
  server.command({"PUBLISH", "work:wake", "free\nrun:other:1:"});
  // The host unsubscribes now, and not only after its time limit, which is much longer than 4 s.
  CHECK(turn_until(
      loop, [&] { return listeners() == "work:wake\n0"; }, 4s));
  host.source.listen(true);
  CHECK(turn_until(loop, [&] { return listeners() == "work:wake\n1"; }));
}

TEST_CASE("a busy host that receives no message stays subscribed") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  hear(host);
  const auto listeners = [&] { return server.command({"PUBSUB", "NUMSUB", "work:wake"}); };
  const auto later = [&] {
    loop.timers().run_due(loop.now() + 6s);
    turn_for(loop, 20ms);
  };
  host.source.may_stop_listening();
  later();
  CHECK(listeners() == "work:wake\n1");
  server.command({"PUBLISH", "work:wake", "free\nrun:other:1:"});
  CHECK(turn_until(loop, [&] { return host.reported.wakes == 1; }));
  later();
  CHECK(listeners() == "work:wake\n0");
}

TEST_CASE("a host unsubscribes from the turns of an empty list") {
  Waiting three({"a"});
  const std::string turn = "work:wake:run:three:77:";
  const auto listeners = [&] { return three.server.command({"PUBSUB", "NUMSUB", turn}); };
  CHECK(listeners() == turn + "\n1");
  three.server.command({"DEL", "work:list"});
  CHECK(three.hosts[2]->claim(1).end == ClaimEnd::empty);
  three.hosts[2]->source.listen(true);
  CHECK(turn_until(three.loop, [&] { return listeners() == turn + "\n0"; }));
}

TEST_CASE("a host does not wait for items that no host runs, and an unused wait queue expires") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:lock:a", "quarantine:x"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(host.claim(1).wait_queue == WaitQueue::none);
  hear(host);
  CHECK(host.claim(1).wait_queue == WaitQueue::none);
  CHECK(server.command({"EXISTS", "work:waiting"}) == "0");
  server.command({"SET", "work:lock:a", "run:x:1:y", "PX", "60000"});
  CHECK(host.claim(1).wait_queue == WaitQueue::none);  // alone
  CHECK(server.command({"ZCARD", "work:waiting"}) == "1");
  CHECK(std::stoi(server.command({"PTTL", "work:waiting"})) <= 60000);
  CHECK(std::stoi(server.command({"PTTL", "work:waiting"})) > 0);
}

TEST_CASE("the end of a run notifies the waiter that has the turn, and no other host") {
  Waiting three({"a", "b"});
  const int wakes = three.hosts[2]->reported.wakes;
  three.hosts[0]->settle(three.held[0]);
  CHECK(three.hosts[0]->settled());
  CHECK(three.turns() == Turns{0, 1, 0});
  CHECK(three.hosts[2]->reported.wakes == wakes);
  // If the wait queue is empty, the wake channel gets the message.
  for (const std::size_t other : {1U, 2U}) three.hosts[other]->source.leave_queue();
  CHECK(turn_until(three.loop, [&] { return three.waiting() == "0"; }));
  three.hosts[0]->settle(three.held[1]);
  CHECK(three.hosts[0]->settled());
  CHECK(turn_until(three.loop, [&] { return three.hosts[2]->reported.wakes > wakes; }));
}

}  // namespace line_test
