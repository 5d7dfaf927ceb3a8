// Items of a size that could stop a host: nothing is asked for or sent that a connection can't
// carry, and what is too long is set aside.
#include <doctest/doctest.h>

#include "store/circular/item_changes.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Counts the connections that a session has lost.
class Drops final : private redis::Client::Listener {
 public:
  explicit Drops(store::RedisSession& session) : redis::Client::Listener(session.client) {}
  int count = 0;
  std::string why;

 private:
  void on_up() override {}
  void on_down(const std::string& reason) override {
    ++count;
    why = reason;
  }
};

/// "1:xxx…", "2:xxx…", …: made by the server itself.
void fill(const RedisServer& server, int items, std::size_t bytes, const std::string& of = "x") {
  server.ask({"EVAL",
              "for i = 1, tonumber(ARGV[1]) do redis.call('RPUSH', KEYS[1], "
              "i .. ':' .. string.rep(ARGV[3], tonumber(ARGV[2]))) end",
              "1", "work:list", std::to_string(items), std::to_string(bytes), of});
}

std::string number_of(const Item& item) {
  return item.substr(0, item.find(':'));
}

/// Claims until `wanted` are held, or nothing comes any more.
std::size_t claim_all(Host& host, std::size_t wanted) {
  while (host.told.claims.size() < wanted) {
    const store::PassReply reply = host.claim(wanted - host.told.claims.size());
    std::size_t bytes = 0;
    for (const Claim& claim : reply.claims) bytes += claim.item.size();
    CHECK(bytes <= store::LockStore::most_bytes_looked_at + longest_item);
    if (reply.claims.empty()) break;
  }
  return host.told.claims.size();
}

std::size_t locks(const RedisServer& server) {
  return static_cast<std::size_t>(
      std::stoul(server.ask({"EVAL", "return #redis.call('KEYS', 'work:lock:*')", "0"})));
}

Rule long_rule() {
  Rule rule = list_rule();
  rule.key_expiry = 60s;
  return rule;
}

/// Whose commands time out soon.
std::shared_ptr<store::RedisSession> impatient_link(loop::Loop& loop, const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  options.command_timeout = 1s;
  return std::make_shared<store::RedisSession>(loop, options,
                                               store::RedisSession::Holder{"here", 77, 5});
}

}  // namespace

TEST_CASE("a claim that was lost is found among 300 items of 600 KiB") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    const int items = scripts ? 300 : 60;
    fill(server, items, 600 * 1024);
    loop::Loop loop;
    Host host(loop, impatient_link(loop, url_for(server, scripts)), long_rule());
    turn_until(loop, [&] { return host.session->client.connected(); });
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    server.pause();
    CHECK(host.claim(3).end == ClaimEnd::unavailable);
    server.resume();
    CHECK(turn_until(loop, [&] { return host.source.unsettled() == 0; }));
    CHECK(locks(server) == 0);
    CHECK(drops.count == 1);  // because of the pause, and no more
    CHECK(claim_all(host, 3) == 3);
    CHECK(server.ask({"LLEN", "work:list"}) == std::to_string(items));
  }
}

TEST_CASE("140 items of 1 MiB are claimed in parts, and their ends settled together") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    const std::size_t items = scripts ? 140 : 30;
    fill(server, static_cast<int>(items), mebibyte);
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    CHECK(claim_all(host, items) == items);
    CHECK(locks(server) == items);
    std::set<std::string> numbers;
    std::size_t unsent = 0;
    for (const Claim& claim : host.told.claims) {
      numbers.insert(number_of(claim.item));
      host.settle(claim);
      unsent = std::max(unsent, host.session->client.unsent());
    }
    CHECK(numbers.size() == items);
    turn_until(loop, [&] {
      unsent = std::max(unsent, host.session->client.unsent());
      return host.source.unsettled() == 0;
    });
    CHECK(host.source.unsettled() == 0);
    CHECK(unsent < 24 * mebibyte);
    CHECK(drops.count == 0);
    CHECK(locks(server) == 0);
    CHECK(server.ask({"XLEN", "work:runs"}) == std::to_string(items));
  }
}

TEST_CASE("400 ends of 64 KiB that came together during an outage") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    fill(server, 400, 64 * 1024);
    loop::Loop loop;
    Host host(loop, impatient_link(loop, url_for(server, scripts)), long_rule());
    turn_until(loop, [&] { return host.session->client.connected(); });
    if (!scripts) host.claim(0);
    CHECK(claim_all(host, 400) == 400);
    Drops drops(*host.session);
    server.pause();
    for (const Claim& claim : host.told.claims) host.settle(claim);
    CHECK(turn_until(loop, [&] { return drops.count > 0; }));
    server.resume();
    CHECK(host.settled());
    CHECK(drops.count == 1);
    CHECK(locks(server) == 0);
    CHECK(server.ask({"XLEN", "work:runs"}) == "400");
  }
}

TEST_CASE("history and events have the first 4 KiB of an item and its length") {
  const std::size_t length = 9 * 1024 * 1024 + 2;
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    fill(server, 1, length - 2, "\x01");
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    std::string heard;
    redis::ClientOptions options;
    options.url = redis::parse_url(server.url());
    redis::Subscriber ears(loop, options);
    const auto events = ears.subscribe(
        "work:events", [&](std::string_view, std::string_view text) { heard = text; });
    CHECK(turn_until(loop, [&] { return ears.connected(); }));
    const store::PassReply reply = host.claim(1);
    REQUIRE(reply.claims.size() == 1);
    CHECK(reply.claims[0].item.size() == length);
    const auto before = server.info("total_net_input_bytes");
    host.settle(reply.claims[0]);
    CHECK(host.settled());
    CHECK(drops.count == 0);
    // By a script, once in all; by plain commands, in each that names the lock.
    const auto carried = static_cast<std::size_t>(server.info("total_net_input_bytes") - before);
    CHECK(carried < (scripts ? length : 5 * length) + mebibyte);
    CHECK(turn_until(loop, [&] { return !heard.empty(); }));
    CHECK(heard.size() < 7 * item_shown);
    CHECK(heard.find("\"item_length\":" + std::to_string(length)) != std::string::npos);
    const std::string entry = server.ask({"XRANGE", "work:runs", "-", "+"});
    CHECK(entry.find("item_length\n" + std::to_string(length)) != std::string::npos);
    CHECK(entry.size() < item_shown + 1024);
    CHECK(locks(server) == 0);
  }
}

TEST_CASE("an item that is cut does not end within a character") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    fill(server, 1, 3000, "\u20ac");
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    const store::PassReply reply = host.claim(1);
    REQUIRE(reply.claims.size() == 1);
    host.settle(reply.claims[0]);
    CHECK(host.settled());
    const std::string entry = server.ask({"XRANGE", "work:runs", "-", "+"});
    std::string shown = "1:";
    while (shown.size() + 3 <= item_shown) shown += "\u20ac";
    CHECK(entry.find("\nitem\n" + shown + "\n") != std::string::npos);
    CHECK(shown_part(reply.claims[0].item) == shown);
  }
}

TEST_CASE("items longer than 16 MiB are quarantined where they stand, and never carried whole") {
  RedisServer server;
  fill(server, 1, 23 * mebibyte);
  server.ask({"RPUSH", "work:list", "a"});
  fill(server, 1, longest_item - 2, "y");
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  Drops drops(*host.session);
  const auto before = server.info("total_net_output_bytes");
  store::PassReply reply = host.claim(1);
  CHECK(items_of(reply) == std::vector<Item>{"a"});
  REQUIRE(reply.parked.size() == 1);
  CHECK(reply.parked[0].length == 23 * mebibyte + 2);
  CHECK(reply.parked[0].beginning == "1:" + std::string(item_shown - 2, 'x'));
  CHECK(server.info("total_net_output_bytes") - before < 64 * 1024);
  CHECK(server.ask({"HVALS", "work:quarantined"}).find("longer than 16 MiB") != std::string::npos);
  CHECK(locks(server) == 2);
  CHECK(server.ask({"EVAL",
                    "local name = 'work:lock:1:' .. string.rep('x', 23 * 1048576) "
                    "return {redis.call('GETRANGE', name, 0, 10), redis.call('PTTL', name)}",
                    "0"}) == "quarantine:\n-1");
  // Just as long as may be: an item like any other. What is quarantined is told once.
  reply = host.claim(2);
  REQUIRE(reply.claims.size() == 1);
  CHECK(reply.claims[0].item.size() == longest_item);
  CHECK(reply.parked.empty());
  host.settle(reply.claims[0]);
  CHECK(host.settled());
  CHECK(drops.count == 0);
  CHECK(server.ask({"LLEN", "work:list"}) == "3");
}

TEST_CASE("a list holds no more of long items than their locks can be renewed") {
  RedisServer server;
  fill(server, 8, 8 * mebibyte);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());  // for 5 s
  REQUIRE(claim_all(host, 8) == 5);
  CHECK(host.told.replies.back().end == ClaimEnd::fleet_full);
  CHECK_FALSE(host.told.replies.back().detail.empty());
  const int turns = host.told.turns;
  host.settle(host.told.claims[0]);
  CHECK(turn_until(loop, [&] { return host.told.turns > turns; }));
  CHECK(host.claim(8).claims.size() == 1);
}

TEST_CASE("six ends of 12 MB at once") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    const std::size_t items = scripts ? 6 : 2;
    fill(server, static_cast<int>(items), 12'000'000);
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    CHECK(claim_all(host, items) == items);
    for (const Claim& claim : host.told.claims) host.settle(claim, store::RestFor{true, 60s});
    CHECK(host.settled());
    CHECK(drops.count == 0);
    CHECK(server.ask({"XLEN", "work:runs"}) == std::to_string(items));
    CHECK(locks(server) == items);
  }
}

TEST_CASE("the record of a run that says more than is written is given up, and its lock is not") {
  RedisServer server;
  server.ask({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  const store::PassReply reply = host.claim(1);
  REQUIRE(reply.claims.size() == 1);
  store::Settlement settlement{
      {reply.claims[0], host.rule, Succeeded{}, {}, WallTime(1000), WallTime(2000)},
      store::SetFree{},
      store::FailureCount::keep};
  settlement.end.process = Exited{0};
  settlement.end.complete =
      Complete{'"' + std::string(9 * mebibyte, 'r') + '"', {}, {}, {}, {}, {}};
  host.source.settle(std::move(settlement));
  CHECK(host.settled());
  CHECK(turn_until(loop, [&] { return !host.told.given_up.empty(); }));
  CHECK(host.told.given_up == std::vector<RunId>{reply.claims[0].run});
  CHECK(locks(server) == 0);
  CHECK(server.ask({"XLEN", "work:runs"}) == "0");
}

TEST_CASE("the reason of a pause is cut before it is told") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    server.ask({"RPUSH", "work:list", "a"});
    server.ask({"SET", "work:paused", std::string(8 * mebibyte, 'p')});
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    const store::PassReply reply = host.claim(1);
    CHECK(reply.end == ClaimEnd::paused);
    CHECK(reply.detail == std::string(item_shown, 'p'));
    CHECK(drops.count == 0);
    server.ask({"SET", "work:paused", ""});
    CHECK(host.claim(1).end == ClaimEnd::paused);
  }
}

TEST_CASE("a claim carries no more run ids than one call can use") {
  RedisServer server;
  fill(server, 600, 1);
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  host.claim(1);
  const auto before = server.info("total_net_input_bytes");
  const store::PassReply reply = host.claim(20'000);
  CHECK(reply.claims.size() == 256);
  CHECK(reply.end == ClaimEnd::more);
  CHECK(server.info("total_net_input_bytes") - before < 16 * 1024);
  CHECK(host.claim(20'000).claims.size() == 256);
  CHECK(host.claim(20'000).claims.size() == 87);
}

TEST_CASE("a look at long locked items reads few of them, sees them all in time, and is charged") {
  RedisServer server;
  fill(server, 20, 600 * 1024);
  server.ask({"EVAL",
              "for _, item in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do "
              "redis.call('SET', 'work:lock:' .. item, 'rest:cooldown', 'PX', 600000) end",
              "1", "work:list"});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  store::PassReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::nothing_free);
  CHECK(reply.calls > 20);  // as many commands as it cost Redis
  const auto look = [&] {
    host.told.looks.clear();
    host.source.look();
    turn_until(loop, [&] { return !host.told.looks.empty(); });
    return host.told.looks.empty() ? store::LookReply{} : host.told.looks.front();
  };
  CHECK_FALSE(look().worth_it);
  CHECK(look().cost > 5);
  // Whichever becomes free, some look comes to it.
  server.ask({"EVAL", "redis.call('DEL', 'work:lock:' .. redis.call('LINDEX', KEYS[1], 13))", "1",
              "work:list"});
  int looks = 1;
  while (!look().worth_it && looks < 40) ++looks;
  CHECK(looks > 1);
  CHECK(looks < 40);
}

TEST_CASE("without scripts, an item that can't be looked at costs its own list alone") {
  // One is too long for the name of a lock to be sent, one for an answer to be read.
  for (const std::size_t length : {70 * mebibyte, 130 * mebibyte}) {
    CAPTURE(length);
    RedisServer server({.config = no_scripts});
    fill(server, 1, length);
    server.ask({"RPUSH", "small:list", "a", "b"});
    loop::Loop loop;
    // So much takes its time, and more of it with sanitizers.
    auto session = open_link(loop, url_for(server, false), "here", 60s);
    Host big(loop, session, long_rule());
    Host small(loop, session, list_rule("small"));
    small.claim(0);
    Drops drops(*session);
    store::PassReply reply = big.claim(1);
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(reply.detail.find("EVAL") != std::string::npos);
    CHECK(turn_until(loop, [&] { return session->client.connected(); }));
    // The next passes don't try it again, and ask Redis nothing.
    const auto reads = [&] { return server.info_text("cmdstat_lmove"); };
    const std::string before = reads();
    CHECK_FALSE(before.empty());
    for (int i = 0; i < 3; ++i) {
      reply = big.claim(1);
      CHECK(reply.end == ClaimEnd::refused);
      CHECK(reply.next_free > 5min);
    }
    CHECK(reads() == before);
    CHECK(drops.count == (length > 128 * mebibyte ? 1 : 0));
    CHECK(small.claim(2).claims.size() == 2);
    CHECK(big.source.unsettled() == 0);
    CHECK(server.ask({"LLEN", "work:list"}) == "1");
  }
}

TEST_CASE("lists share the room for long items") {
  RedisServer server;
  for (const auto& [list, items] : std::map<std::string, int>{{"a:list", 18}, {"b:list", 2}})
    for (int i = 0; i < items; ++i)  // one by one: they take their time
      server.ask({"EVAL", "redis.call('RPUSH', KEYS[1], ARGV[1] .. string.rep('x', 16000000))", "1",
                  list, std::to_string(i)});
  loop::Loop loop;
  auto session = open_link(loop, server.url());
  Rule rule = long_rule();
  rule.prefix = "a";
  Host first(loop, session, rule);
  rule.prefix = "b";
  Host second(loop, session, rule);
  const std::size_t held = claim_all(first, 18);
  CHECK(held == 16);
  // Of the first it is not known how long it is.
  CHECK(claim_all(second, 2) == 1);
  CHECK(session->item_room.held() <= store::ItemRoom::most + longest_item);
  const int turns = second.told.turns;
  for (std::size_t i = 0; i < 3 && i < first.told.claims.size(); ++i)
    first.settle(first.told.claims[i]);
  CHECK(turn_until(loop, [&] { return second.told.turns > turns; }));
  CHECK(second.claim(1).claims.size() == 1);
  CHECK(first.claim(1).claims.empty());  // it has more than its half
}

TEST_CASE("another's lock may be of any length: no more of it is read than whose it is") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    for (int i = 0; i < 12; ++i) server.ask({"RPUSH", "work:list", "mine" + std::to_string(i)});
    const auto make_long = [&](const std::string& item, const std::string& begins) {
      server.ask({"SETRANGE", "work:lock:" + item, std::to_string(8 * mebibyte), "x"});
      server.ask({"SETRANGE", "work:lock:" + item, "0", begins});
    };
    for (int i = 0; i < 12; ++i) {
      server.ask({"RPUSH", "work:list", "theirs" + std::to_string(i)});
      make_long("theirs" + std::to_string(i), i % 2 == 0 ? "run:" : "");
    }
    loop::Loop loop;
    Rule rule = list_rule();
    rule.key_expiry = 2s;  // so renewals come soon
    Host host(loop, url_for(server, scripts), rule);
    if (!scripts) host.claim(0);
    Drops drops(*host.session);
    const auto before = server.info("used_memory_peak");
    const auto sent = server.info("total_net_output_bytes");
    CHECK(claim_all(host, 24) == 12);
    for (int i = 0; i < 4; ++i) CHECK(host.claim(8).claims.empty());
    // Nor of what has taken the place of one of ours. That is more memory, but no more than it.
    for (int i = 0; i < 6; ++i) make_long("mine" + std::to_string(i), "");
    const auto with_more = server.info("used_memory");
    CHECK(turn_until(loop, [&] { return host.told.lost.size() == 6; }));
    for (const Claim& claim : host.told.claims)
      host.settle(claim, store::RestFor{true, 60s}, store::FailureCount::increment, Crashed{"x"});
    CHECK(host.settled());
    CHECK(static_cast<std::size_t>(server.info("used_memory_peak")) <
          static_cast<std::size_t>(std::max(before, with_more)) + 6 * mebibyte);
    CHECK(server.info("total_net_output_bytes") - sent < 256 * 1024);
    CHECK(drops.count == 0);
    CHECK(server.ask({"STRLEN", "work:lock:mine0"}) == std::to_string(8 * mebibyte + 1));
    CHECK(server.ask({"STRLEN", "work:lock:theirs0"}) == std::to_string(8 * mebibyte + 1));
    CHECK(server.ask({"GET", "work:lock:mine11"}) == "rest:backoff");
  }
}

TEST_CASE("what is no count of failures is forgotten, however long it is") {
  for (const bool scripts : {true, false}) {
    CAPTURE(scripts);
    RedisServer server({.config = no_scripts});
    server.ask({"RPUSH", "work:list", "a", "b", "c"});
    server.ask({"HSET", "work:failures", "a", std::string(8 * mebibyte, 'f'), "b", "7"});
    loop::Loop loop;
    Host host(loop, url_for(server, scripts), long_rule());
    if (!scripts) host.claim(0);
    const auto sent = server.info("total_net_output_bytes");
    CHECK(claim_all(host, 3) == 3);
    std::map<Item, unsigned> failures;
    for (const Claim& claim : host.told.claims) failures[claim.item] = claim.attempt - 1;
    CHECK(failures == std::map<Item, unsigned>{{"a", 0}, {"b", 7}, {"c", 0}});
    CHECK(server.info("total_net_output_bytes") - sent < 64 * 1024);
    for (const Claim& claim : host.told.claims)
      host.settle(claim, store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
    CHECK(host.settled());
    CHECK(server.ask({"HMGET", "work:failures", "a", "b", "c"}).substr(0, 20) == "1\n8\n1");
  }
}

TEST_CASE("release --all is no slower for long locks and notes") {
  RedisServer server;
  server.ask({"RPUSH", "work:list", "a", "b", "c", "d"});
  fill(server, 1, 6 * mebibyte);
  server.ask({"SETRANGE", "work:lock:a", std::to_string(8 * mebibyte), "x"});
  server.ask({"SETRANGE", "work:lock:b", std::to_string(8 * mebibyte), "x"});
  server.ask({"SETRANGE", "work:lock:b", "0", "quarantine:"});
  server.ask({"SET", "work:lock:c", "quarantine:manual"});
  server.ask({"HSET", "work:quarantined", "d", std::string(8 * mebibyte, 'q')});
  loop::Loop loop;
  redis::ClientOptions options;
  options.url = redis::parse_url(server.url());
  redis::SyncClient client(loop, options);
  store::ItemChanges changes(client, store::CircularKeys("work:"));
  const auto sent = server.info("total_net_output_bytes");
  auto released = changes.release_all();
  std::ranges::sort(released);
  CHECK(released == std::vector<Item>{"b", "c", "d"});
  CHECK(server.info("total_net_output_bytes") - sent < 64 * 1024);
  CHECK(server.ask({"STRLEN", "work:lock:a"}) == std::to_string(8 * mebibyte + 1));
}
