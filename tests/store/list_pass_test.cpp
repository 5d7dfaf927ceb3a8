// Tests of a pass over a list that hosts rotate, and of subcommands that find many items with it.
#include "store/circular/list_pass.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "store/circular/item_changes.hpp"
#include "store/circular/list_part.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;
using store::ListPass;

namespace list_pass_test {
namespace {

using List = std::vector<int>;

void rotate(List& list, std::size_t count) {
  if (list.empty()) return;
  const auto moved = static_cast<std::ptrdiff_t>(count % list.size());
  const List first(list.begin(), list.begin() + moved);
  list.erase(list.begin(), list.begin() + moved);
  list.insert(list.end(), first.begin(), first.end());
}

/// Reads a part of the list, as the scripts do. Items in `names` are removed and have no
/// fingerprint in the reply.
ListPass::Reply read(List& list, const ListPass::Part& part, std::size_t most,
                     const std::set<int>& names, std::vector<int>& seen) {
  const auto length = std::ssize(list);
  ListPass::Reply reply;
  reply.first = part.first < 0 ? std::max<std::int64_t>(0, length + part.first) : part.first;
  const std::int64_t end = std::min(length, reply.first + part.count);
  reply.read = std::clamp<std::int64_t>(end - reply.first, 0, static_cast<std::int64_t>(most));
  reply.whole = reply.read == std::max<std::int64_t>(0, end - reply.first);
  const auto begin = list.begin() + std::min(reply.first, length);
  const List items(begin, begin + reply.read);
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    seen.push_back(*item);
    if (names.contains(*item))
      list.erase(std::find(list.begin(), list.end(), *item));
    else if (std::ssize(reply.fingerprints) < part.fingerprints)
      reply.fingerprints.push_back(std::to_string(*item));
  }
  return reply;
}

/// Client, and server that has a list of `items` items. All items have the same length and start
/// with the same text, like the URLs of a site.
struct Place {
  explicit Place(int items) : client(loop, options()) {
    server.command({"EVAL",
                    "for i = 1, ARGV[2] do "
                    "redis.call('RPUSH', KEYS[1], string.format('%s%05d', ARGV[1], i)) end",
                    "1", "work:list", site, std::to_string(items)});
  }
  static Item item(int number) {
    const std::string digits = std::to_string(number);
    return site + std::string(5 - digits.size(), '0') + digits;
  }
  std::string ask(const std::vector<std::string>& words) const { return server.command(words); }

  static inline const std::string site = "https://example.org/" + std::string(60, 'x') + "/";
  RedisServer server;
  loop::Loop loop;
  redis::SyncClient client;
  store::ItemChanges changes{client, store::CircularKeys("work:")};

 private:
  [[nodiscard]] redis::ClientOptions options() const {
    redis::ClientOptions options;
    options.url = redis::parse_url(server.url());
    return options;
  }
};

/// Rotates a list as hosts do, as fast as Redis permits, until it is destroyed, or `most` items
/// were moved.
class Rotating {
 public:
  Rotating(const RedisServer& server, int most) : server_(server) {
    rotate();
    thread_ = std::jthread([this, most](const std::stop_token& stop) {
      for (int moved = 0; moved < most && !stop.stop_requested(); moved += 400) rotate();
    });
  }

 private:
  void rotate() const {
    static_cast<void>(server_.command(
        {"EVAL", "for i = 1, 400 do redis.call('LMOVE', KEYS[1], KEYS[1], 'LEFT', 'RIGHT') end",
         "1", "work:list"}));
  }

  const RedisServer& server_;
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a pass reads each item that stays in the list while hosts rotate it") {
  std::mt19937_64 random(20261126);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  std::size_t twice = 0, parts = 0;
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const std::size_t length = 1 + below(trial % 3 == 0 ? 50 : 45'000);
    List list(length);
    std::iota(list.begin(), list.end(), 0);
    std::set<int> names;
    for (std::size_t i = below(20); i > 0; --i) names.insert(static_cast<int>(below(length)));
    std::set<int> removed;
    const std::size_t most = trial % 5 == 0 ? 1 + below(300) : 1'000'000;
    // Half of the lists are busy; in some, hosts move almost all items during one call.
    const std::size_t busy = trial % 2 == 0 ? 0 : 1 + below(trial % 7 == 0 ? length : 500);
    std::vector<int> seen;
    ListPass pass;
    std::size_t calls = 0, left = length - std::min(length, names.size() + 1);
    while (const auto part = pass.next()) {
      REQUIRE(++calls < 100'000);
      pass.take(read(list, *part, most, names, seen));
      const std::size_t moved = std::min(left, busy > 0 ? below(busy + 1) : 0);
      rotate(list, moved);
      left -= moved;
      if (trial % 4 == 1) list.push_back(static_cast<int>(length + calls));
      if (trial % 4 == 3 && !list.empty()) {
        const auto item = list.begin() + static_cast<std::ptrdiff_t>(below(list.size()));
        removed.insert(*item);
        list.erase(item);
        if (left > 0) --left;
      }
    }
    std::vector<bool> found(length + calls + 1);
    for (const int item : seen) found[static_cast<std::size_t>(item)] = true;
    for (const int item : removed) found[static_cast<std::size_t>(item)] = true;
    // The items after these were added during the pass.
    found.resize(length);
    CHECK(std::count(found.begin(), found.end(), false) == 0);
    for (const int name : names) CHECK(std::count(list.begin(), list.end(), name) == 0);
    if (busy == 0 && most > length && trial % 4 == 0) {
      parts += calls;
      twice += seen.size() - length;
    }
  }
  // Without rotation, a pass reads each item once, and the last items twice.
  CHECK(twice <= parts * 1000);
}

TEST_CASE("changes find all items of a long list that hosts rotate between two calls") {
  Place place(30'000);
  std::vector<Item> some;
  for (int i = 1; i <= 30'000; i += 50) some.push_back(Place::item(i));
  using store::AddedAs, store::QuarantinedAs, store::ReleasedAs;
  {
    const Rotating rotating(place.server, 25'000);
    CHECK(place.changes.quarantine(some, {{}, "alice", "x", WallTime(5)}) ==
          std::vector(some.size(), QuarantinedAs::done));
  }
  CHECK(place.changes.release(some) == std::vector(some.size(), ReleasedAs::released));
  CHECK(place.changes.add(some, false) == std::vector(some.size(), AddedAs::listed_already));
  {
    const Rotating rotating(place.server, 25'000);
    CHECK(place.changes.remove(some) == std::vector<std::size_t>(some.size(), 1));
  }
  CHECK(place.changes.remove(some) == std::vector<std::size_t>(some.size(), 0));
  CHECK(place.changes.release(some) == std::vector(some.size(), ReleasedAs::not_listed));
  CHECK(place.changes.add(some, false) == std::vector(some.size(), AddedAs::added));
  CHECK(place.ask({"LLEN", "work:list"}) == "30000");
}

TEST_CASE("a name that add gets twice is found twice in a long list") {
  Place place(20'000);
  std::vector<Item> names{Place::item(100)};
  for (int i = 0; i < 64; ++i) names.push_back("new" + std::to_string(i));
  names.push_back(Place::item(100));
  const auto added = place.changes.add(names, false);
  CHECK(added.front() == store::AddedAs::listed_already);
  CHECK(added.back() == store::AddedAs::listed_already);
  CHECK(place.ask({"LLEN", "work:list"}) == "20064");
}

TEST_CASE("a removal by state removes all copies of an item in that state and no other item") {
  Place place(25'000);
  place.ask({"LPUSH", "work:list", "b", "a"});
  place.ask({"RPUSH", "work:list", "a", "a", "b"});
  place.ask({"SET", "work:lock:a", "delay:backoff", "PX", "60000"});
  place.ask({"SET", "work:lock:b", "run:web1:1:xyz", "PX", "60000"});
  CHECK(place.changes.remove({"a", "b", "nowhere"}, "delayed") ==
        std::vector<std::optional<std::size_t>>{3, std::nullopt, 0});
  CHECK(place.ask({"LRANGE", "work:list", "0", "1"}) == "b\n" + Place::item(1));
  CHECK(place.ask({"LRANGE", "work:list", "-2", "-1"}) == Place::item(25'000) + "\nb");
  CHECK(place.ask({"EXISTS", "work:lock:a"}) == "0");
  CHECK(place.ask({"EXISTS", "work:lock:b"}) == "1");
}

TEST_CASE("a removal by state leaves the quarantine of an item that is not in the list") {
  Place place(1);
  place.ask({"SET", "work:lock:gone", "quarantine:manual"});
  CHECK(place.changes.remove({"gone"}, "delayed").front() == 0);
  CHECK(place.ask({"EXISTS", "work:lock:gone"}) == "1");
  CHECK(place.changes.remove({"gone"}).front() == 0);
  CHECK(place.ask({"EXISTS", "work:lock:gone"}) == "0");
}

TEST_CASE("a server that is out of memory permits a removal") {
  Place place(0);
  place.ask({"RPUSH", "work:list", "a", "b", "a", "c"});
  place.ask({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(place.changes.remove({"a", "c"}) == std::vector<std::size_t>{2, 1});
  place.ask({"CONFIG", "SET", "maxmemory", "0"});
  CHECK(place.ask({"LRANGE", "work:list", "0", "-1"}) == "b");
}

TEST_CASE("a pass reads all items of a list that hosts rotate") {
  Place place(25'000);
  const Rotating rotating(place.server, 20'000);
  std::set<std::string> seen;
  store::read_whole_list(place.client, store::CircularKeys("work:"), store::LongStates::read,
                         [&](store::ListPart&& part) {
                           for (const auto& item : part.items) seen.insert(item.beginning);
                         });
  CHECK(seen.size() == 25'000);
}

}  // namespace list_pass_test
