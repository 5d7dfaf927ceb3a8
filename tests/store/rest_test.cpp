// Idle lists: result and cost of peeks, wake-ups by reports of Redis, and memory.
#include <doctest/doctest.h>

#include "host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace rest_test {
namespace {

/// Lists "l0", "l1", … on one connection.
struct Lists {
  Lists(loop::Loop& shared, const std::string& url, std::size_t count)
      : loop(shared), session(open_link(loop, url)) {
    for (std::size_t i = 0; i < count; ++i) {
      told.push_back(std::make_unique<Told>());
      sources.push_back(std::make_unique<store::RedisCircularList>(session, *told.back()));
      sources.back()->use(std::make_shared<const ListConfig>(list_rule("l" + std::to_string(i))));
    }
  }
  /// Lets each list claim once.
  void claim() {
    for (auto& source : sources) source->claim(1, store::Scan::whole, store::Manner::in_turn);
    CHECK(turn_until(loop, [&] {
      return std::all_of(told.begin(), told.end(),
                         [](const auto& each) { return !each->replies.empty(); });
    }));
  }
  /// Lets each list peek once, all in one loop iteration. Returns the lists for which a claim is
  /// worthwhile.
  std::vector<std::size_t> look(store::Look what = store::Look::items) {
    for (auto& each : told) each->peeks.clear();
    const std::uint64_t before = session->client.commands_sent();
    for (auto& source : sources) source->look(what);
    // If no list sends a command, nothing else ends the wait of the loop.
    Timer soon(loop.timers());
    soon.set(loop.now() + 1ms, [] {});
    CHECK(turn_until(loop, [&] {
      return std::all_of(told.begin(), told.end(),
                         [](const auto& each) { return each->peeks.size() == 1; });
    }));
    commands = session->client.commands_sent() - before;
    std::vector<std::size_t> worth;
    cost = 0;
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (told[i]->peeks[0].worth_it) worth.push_back(i);
      cost += told[i]->peeks[0].cost;
    }
    return worth;
  }

  loop::Loop& loop;
  std::shared_ptr<store::RedisSession> session;
  std::vector<std::unique_ptr<Told>> told;
  std::vector<std::unique_ptr<store::RedisCircularList>> sources;
  std::uint64_t commands = 0;  ///< of the last peek
  double cost = 0;             ///< of the last peek, as the lists reported it
};

using Places = std::vector<std::size_t>;

void wait_for_tracking(Lists& lists) {
  CHECK(turn_until(lists.loop, [&] {
    return lists.session->tracking.on("l0:list") && lists.session->client.connected() &&
           lists.session->subscriber.connected();
  }));
}

/// Makes Redis track all lists. Later peeks do not repeat this.
void track(Lists& lists) {
  wait_for_tracking(lists);
  lists.look();
  CHECK(turn_until(lists.loop, [&] {
    return std::ranges::all_of(lists.sources, [](const auto& list) { return list->hears(); });
  }));
  for (auto& each : lists.told) each->peeks.clear();
}

}  // namespace

TEST_CASE("peeks at 1,000 empty lists send two commands") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1000);
  lists.claim();
  track(lists);
  CHECK(lists.look() == Places{});
  CHECK(lists.commands == 2);
  CHECK(lists.cost == doctest::Approx(2));
  server.command({"RPUSH", "l7:list", "a"});
  server.command({"RPUSH", "l700:list", "a"});
  server.command({"RPUSH", "l701:list", "a"});
  CHECK(lists.look() == Places{7, 700, 701});
  CHECK(lists.commands <= 6);
  CHECK(lists.cost == doctest::Approx(static_cast<double>(lists.commands)));
}

TEST_CASE("peeks at 250 locked lists send one command and find an item that becomes free") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 250);
  for (int i = 0; i < 250; ++i) {
    const std::string list = "l" + std::to_string(i);
    server.command({"RPUSH", list + ":list", "a", "b"});
    server.command({"MSET", list + ":lock:a", "x", list + ":lock:b", "x"});
  }
  lists.claim();
  track(lists);
  CHECK(lists.look() == Places{});
  CHECK(lists.commands == 1);
  SUBCASE("an item is added") {
    server.command({"RPUSH", "l9:list", "c"});
    CHECK(lists.look() == Places{9});
  }
  SUBCASE("a lock is deleted without a message") {
    server.command({"DEL", "l5:lock:b"});
    const Places first = lists.look();  // each peek reads one item of each of the 250 lists
    const Places second = lists.look();
    CHECK((first.empty() ? second : first) == Places{5});
  }
}

TEST_CASE("a list that is destroyed during its peek gets no reply, and the other lists do") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 6);
  lists.claim();
  track(lists);
  const std::uint64_t before = lists.session->client.commands_sent();
  for (auto& source : lists.sources) source->look(store::Look::items);
  lists.sources[2].reset();
  CHECK(turn_until(loop, [&] { return lists.session->client.commands_sent() > before; }));
  lists.sources[4].reset();
  CHECK(turn_until(loop, [&] {
    return lists.told[0]->peeks.size() == 1 && lists.told[1]->peeks.size() == 1 &&
           lists.told[3]->peeks.size() == 1 && lists.told[5]->peeks.size() == 1;
  }));
  CHECK(lists.told[2]->peeks.empty());
}

TEST_CASE("an idle list frees its working memory and claims again") {
  CHECK(sizeof(store::RedisCircularList) <= 264);
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1);
  server.command({"RPUSH", "l0:list", "a"});
  lists.claim();
  const auto& replies = lists.told[0]->replies;
  REQUIRE(replies[0].claims.size() == 1);
  lists.sources[0]->hand_back(replies[0].claims[0]);
  CHECK(turn_until(loop, [&] { return lists.sources[0]->unsettled() == 0; }));
  // The next claim restores the state that an idle list frees.
  lists.sources[0]->listen(true);
  lists.sources[0]->claim(1, store::Scan::whole, store::Manner::in_turn);
  CHECK(turn_until(loop, [&] { return replies.size() == 2; }));
  REQUIRE(replies[1].claims.size() == 1);
  CHECK(lists.sources[0]->may_start(replies[1].claims[0]));
}

TEST_CASE("peeks read a long locked list in parts until they find the free item") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1);
  std::vector<std::string> push{"RPUSH", "l0:list"};
  std::vector<std::string> lock{"MSET"};
  for (int i = 0; i < 10000; ++i) {
    push.push_back(std::to_string(i));
    lock.push_back("l0:lock:" + std::to_string(i));
    lock.emplace_back("x");
  }
  server.command(push);
  server.command(lock);
  lists.claim();
  CHECK(lists.told[0]->replies.back().calls == 40);
  server.command({"DEL", "l0:lock:9000"});
  int looks = 0;
  while (lists.look(store::Look::many).empty() && looks < 10) ++looks;
  CHECK(looks == 3);
  // The next claim examines the position that the peek has found, and not the whole list.
  const store::LookReply& reply = lists.told[0]->peeks.back();
  CHECK(reply.located);
  CHECK(reply.next >= 200ms);
  CHECK(reply.next <= 250ms);
  lists.told[0]->replies.clear();
  lists.sources[0]->claim(1, store::Scan::ends, store::Manner::in_turn);
  CHECK(turn_until(loop, [&] { return !lists.told[0]->replies.empty(); }));
  CHECK(items_of(lists.told[0]->replies[0]) == std::vector<Item>{"9000"});
  CHECK(lists.told[0]->replies[0].calls == 1);
}

TEST_CASE("peeks cover a whole list, alone or together with another list") {
  RedisServer server;
  loop::Loop loop;
  constexpr int items = 3000;
  Lists lists(loop, server.url(), 2);
  for (int list = 0; list < 2; ++list) {
    std::vector<std::string> push{"RPUSH", "l" + std::to_string(list) + ":list"};
    std::vector<std::string> lock{"MSET"};
    for (int i = 0; i < items; ++i) {
      push.push_back(std::to_string(i));
      lock.insert(lock.end(), {"l" + std::to_string(list) + ":lock:" + std::to_string(i), "x"});
    }
    server.command(push);
    server.command(lock);
  }
  lists.claim();
  const auto peek_alone = [&] {
    lists.told[0]->peeks.clear();
    lists.sources[0]->look(store::Look::many);
    CHECK(turn_until(loop, [&] { return lists.told[0]->peeks.size() == 1; }));
    return lists.told[0]->peeks[0].worth_it;
  };
  // A peek reads 2,560 or 1,280 items. It starts where the last one ended.
  for (const std::string freed : {"0", "1279", "1280", "2000", "2559", "2560", "2999"}) {
    CAPTURE(freed);
    server.command({"DEL", "l0:lock:" + freed});
    bool found = false;
    for (int look = 0; look < 6 && !found; ++look)
      found = look % 2 == 0 ? peek_alone() : !lists.look(store::Look::many).empty();
    CHECK(found);
    server.command({"SET", "l0:lock:" + freed, "x"});
  }
  int calls = 0;
  server.command({"DEL", "l0:lock:2999"});
  while (!peek_alone()) ++calls;
  CHECK(calls <= 1);  // two peeks at this list alone read all of it
}

TEST_CASE("an item that is added during a scan is found by the next peek") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1);
  std::vector<std::string> push{"RPUSH", "l0:list"};
  std::vector<std::string> lock{"MSET"};
  for (int i = 0; i < 12000; ++i) {
    push.push_back(std::to_string(i));
    lock.insert(lock.end(), {"l0:lock:" + std::to_string(i), "x"});
  }
  server.command(push);
  server.command(lock);
  lists.sources[0]->claim(1, store::Scan::whole, store::Manner::in_turn);
  const std::uint64_t before = lists.session->client.commands_sent();
  CHECK(turn_until(loop, [&] { return lists.session->client.commands_sent() > before + 3; }));
  REQUIRE(lists.told[0]->replies.empty());
  server.command({"RPUSH", "l0:list", "new"});
  CHECK(turn_until(loop, [&] { return !lists.told[0]->replies.empty(); }));
  CHECK(lists.told[0]->replies[0].claims.empty());  // the scan does not reach the new item
  CHECK(lists.look() == Places{0});
}

TEST_CASE("the cost of a peek at one list does not predict the cost at 1,000 lists") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1000);
  lists.claim();
  track(lists);
  lists.sources[0]->look(store::Look::items);
  CHECK(turn_until(loop, [&] { return !lists.told[0]->peeks.empty(); }));
  CHECK(lists.told[0]->peeks[0].cost == 1);
  CHECK(lists.sources[0]->look_cost() <= 0.05);
}

TEST_CASE("the cost of a peek is divided among the lists that share it") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 2);
  lists.claim();
  track(lists);
  lists.look();
  CHECK(lists.sources[0]->look_cost() == 0.5);
}

TEST_CASE("a peek without the permission for EXISTS recommends a claim and sends no command") {
  RedisServer server({{"user plain on nopass ~* &* +@all -exists"}});
  loop::Loop loop;
  Lists lists(loop, url_of_plain(server), 3);
  server.command({"RPUSH", "l1:list", "a"});
  server.command({"SET", "l1:lock:a", "x"});
  lists.claim();
  wait_for_tracking(lists);
  lists.look();
  CHECK(lists.look() == Places{0, 1, 2});
  CHECK(lists.commands == 0);
  CHECK(lists.sources[0]->look_cost() == 1);
  // A claim from a long list does not need the permission either.
  std::vector<std::string> push{"RPUSH", "l2:list"};
  std::vector<std::string> lock{"MSET"};
  for (int i = 0; i < 300; ++i) {
    push.push_back(std::to_string(i));
    if (i < 299) lock.insert(lock.end(), {"l2:lock:" + std::to_string(i), "x"});
  }
  server.command(push);
  server.command(lock);
  lists.told[2]->replies.clear();
  lists.sources[2]->claim(1, store::Scan::whole, store::Manner::in_turn);
  CHECK(turn_until(loop, [&] { return !lists.told[2]->replies.empty(); }));
  CHECK(items_of(lists.told[2]->replies[0]) == std::vector<Item>{"299"});
}

TEST_CASE("a scan of the edges keeps the order and finds added items") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < 600; ++i) {
    push.push_back(std::to_string(i));
    server.command({"SET", "work:lock:" + std::to_string(i), "delay:cooldown", "PX",
                    std::to_string(60000 + i)});
  }
  server.command(push);
  const ClaimReply whole = host.claim(1);
  CHECK(whole.end == ClaimEnd::nothing_free);
  CHECK(whole.whole);
  CHECK(whole.calls == 3);

  const ClaimReply none = host.claim(2, store::Scan::ends);
  CHECK(none.end == ClaimEnd::nothing_free);
  CHECK_FALSE(none.whole);
  CHECK(none.calls == 1);
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "0");

  server.command({"DEL", "work:lock:1"});
  server.command({"DEL", "work:lock:300"});  // in the middle
  server.command({"DEL", "work:lock:590"});
  CHECK(items_of(host.claim(3, store::Scan::ends)) == std::vector<Item>{"1", "590"});
  // The claimed item at the left end was rotated to the right end, with the item before it.
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "2");
  CHECK(server.command({"LINDEX", "work:list", "-1"}) == "1");
  CHECK(server.command({"LLEN", "work:list"}) == "600");
  server.command({"RPUSH", "work:list", "new"});
  CHECK(items_of(host.claim(1, store::Scan::ends)) == std::vector<Item>{"new"});
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"300"});
}

TEST_CASE("an addition wakes an empty list, and a peek finds it in a list with locked items") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 2);
  server.command({"RPUSH", "l1:list", "a"});
  server.command({"SET", "l1:lock:a", "x"});
  lists.claim();
  track(lists);
  const auto wakes = [&](std::size_t list) { return lists.told[list]->wakes; };
  CHECK(wakes(0) == 0);
  server.command({"RPUSH", "l0:list", "new"});
  CHECK(turn_until(loop, [&] { return wakes(0) == 1; }));
  CHECK_FALSE(lists.sources[0]->hears());

  // The claim of another host rotates the list and makes no item free.
  server.command({"LMOVE", "l1:list", "l1:list", "LEFT", "RIGHT"});
  CHECK(turn_until(loop, [&] { return lists.told[1]->changes == 1; }));
  lists.sources[1]->look(store::Look::length);
  CHECK(turn_until(loop, [&] { return lists.sources[1]->hears(); }));
  CHECK_FALSE(lists.told[1]->peeks.back().worth_it);
  server.command({"LPUSH", "l1:list", "b"});
  CHECK(turn_until(loop, [&] { return lists.told[1]->changes == 2; }));
  lists.sources[1]->look(store::Look::length);
  CHECK(turn_until(loop, [&] { return lists.told[1]->peeks.back().worth_it; }));
  CHECK(wakes(1) == 0);
  CHECK(wakes(0) == 1);
}

TEST_CASE("an addition between a claim and its tracked peek is found") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 2);
  server.command({"RPUSH", "l1:list", "a"});
  server.command({"SET", "l1:lock:a", "x"});
  lists.claim();
  wait_for_tracking(lists);
  server.command({"RPUSH", "l0:list", "new"});
  server.command({"RPUSH", "l1:list", "new"});
  CHECK(lists.look() == Places{0, 1});
}

TEST_CASE("a session that does not wait has one connection") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 1);
  server.command({"RPUSH", "l0:list", "a"});
  const auto connections = [&] {
    const std::string clients = server.command({"CLIENT", "LIST"});
    return std::count(clients.begin(), clients.end(), '\n');
  };
  const auto before = connections();
  lists.claim();
  CHECK(connections() == before);
  track(lists);
  CHECK(connections() == before + 1);  // that of the subscriber
}

TEST_CASE(
    "lists are tracked again after a connection has ended, and a flush is a change of each list") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 2);
  lists.claim();
  for (const std::string type : {"pubsub", "normal"}) {
    CAPTURE(type);
    track(lists);
    server.command({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"});
    CHECK(turn_until(loop, [&] { return !lists.sources[0]->hears(); }));
  }
  track(lists);
  server.command({"FLUSHALL"});
  CHECK(
      turn_until(loop, [&] { return lists.told[0]->changes == 1 && lists.told[1]->changes == 1; }));
  CHECK(lists.told[0]->wakes == 0);  // thousands of lists share peeks, and do not claim
}

TEST_CASE("tracked lists stay tracked if Redis refuses the tracked peek of another list") {
  RedisServer server({.config = {"user w8y on nopass ~* &* +@all"}});
  loop::Loop loop;
  Lists lists(loop, "unix://w8y:x@" + server.socket(), 2);
  lists.claim();
  track(lists);
  server.command({"RPUSH", "l1:list", "a"});
  CHECK(turn_until(loop, [&] { return lists.told[1]->wakes == 1; }));
  server.command({"ACL", "SETUSER", "w8y", "-client|caching"});
  lists.sources[1]->look(store::Look::items);
  CHECK(turn_until(loop, [&] { return !lists.session->tracking.on("l0:list"); }));
  CHECK_FALSE(lists.sources[1]->hears());
  CHECK(lists.sources[0]->hears());
  server.command({"RPUSH", "l0:list", "a"});
  CHECK(turn_until(loop, [&] { return lists.told[0]->wakes == 1; }));
}

TEST_CASE("peeks find items without the permissions for CLIENT TRACKING") {
  for (const std::string refused : {"-client|tracking", "-client|id", "-client|caching"}) {
    CAPTURE(refused);
    RedisServer server({.config = {"user w8y on nopass ~* &* +@all " + refused}});
    loop::Loop loop;
    Lists lists(loop, "unix://w8y:x@" + server.socket(), 2);
    lists.claim();
    CHECK(lists.look().empty());
    server.command({"RPUSH", "l1:list", "a"});
    CHECK(lists.look() == Places{1});
    CHECK_FALSE(lists.sources[0]->hears());
  }
}

TEST_CASE("a peek over a closed connection recommends no claim") {
  RedisServer server;
  loop::Loop loop;
  Lists lists(loop, server.url(), 3);
  lists.claim();
  CHECK(lists.look().empty());
  server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  turn_until(loop, [&] { return !lists.session->client.connected(); });
  CHECK(lists.look().empty());
}

TEST_CASE("an idle list has at most 240 bytes") {
  CHECK(sizeof(store::RedisCircularList) <= 240);
}

}  // namespace rest_test
