// Fleet on a real server: the keys that hosts write, the view of the readers, and invalid data.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "redis/server_client.hpp"
#include "redis/subscriber.hpp"
#include "store/beating_host.hpp"
#include "store/fleet/commands.hpp"
#include "store/fleet/reader.hpp"
#include "support/client_options.hpp"
#include "support/cluster.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::store;
using namespace w8y::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace fleet_test {
namespace {

ListStatus list_of(const std::string& prefix, ListState state = ListState::idle) {
  ListStatus list;
  list.prefix = prefix;
  list.state = state;
  list.concurrency = 2;
  return list;
}

struct Watcher {
  Watcher(loop::Loop& shared, const std::string& url)
      : loop(shared),
        client(redis::Client::open(shared, options_for(url))),
        subscriber(shared, options_for(url)),
        reader(shared, *client, "fleet"),
        orders(shared, *client, subscriber, reader, "fleet", 1) {}
  FleetView view() {
    std::shared_ptr<const FleetView> seen;
    reader.read([&](const FleetReader::ViewPtr& told) { seen = told; });
    REQUIRE(turn_until(loop, [&] { return seen != nullptr; }));
    return *seen;
  }
  FleetCommandResult give(FleetCommandKind kind, const std::string& host = {}) {
    FleetCommand order;
    order.kind = kind;
    order.host = host;
    std::unique_ptr<FleetCommandResult> outcome;
    orders.send(order, [&](FleetCommandResult&& of) {
      outcome = std::make_unique<FleetCommandResult>(std::move(of));
    });
    REQUIRE(turn_until(loop, [&] { return outcome != nullptr; }));
    return std::move(*outcome);
  }

  loop::Loop& loop;
  const std::unique_ptr<redis::Client> client;
  redis::Subscriber subscriber;
  FleetReader reader;
  FleetCommands orders;
};

const FleetHost* find(const FleetView& view, const std::string& name) {
  for (const auto& host : view.hosts)
    if (host.heartbeat.host == name) return &host;
  return nullptr;
}

long long ms_now(const RedisServer& server) {
  return std::stoll(server.command({"TIME"})) * 1000;
}

/// Returns the number of commands that clients have sent.
long long commands(const RedisServer& server) {
  return server.info("total_commands_processed");
}

/// Writes the keys of a host whose last heartbeat was at `heartbeat_ms`.
void put_host(const RedisServer& server, const std::string& id, long long heartbeat_ms,
              const std::string& text) {
  server.command({"ZADD", "fleet:hosts", std::to_string(heartbeat_ms), id});
  if (!text.empty()) server.command({"SET", "fleet:host:" + id, text, "PX", "60000"});
}

}  // namespace

TEST_CASE("the counts per minute of a host are kept for one hour") {
  const RedisServer server;
  loop::Loop loop;
  const std::int64_t minute = ms_now(server) / 60'000;
  BeatingHost host(loop, server.url(), "alpha");
  host.counted = {{minute, "two"}};
  REQUIRE(host.has_beaten());
  const std::string key = "fleet:minute:alpha-00000000:" + std::to_string(minute % 60);
  CHECK(server.command({"GET", key}) == "two");
  const long long life = std::stoll(server.command({"PTTL", key}));
  CHECK(life > 0);
  CHECK(life <= 3'600'000);
}

TEST_CASE(
    "a host sends heartbeats with changed list reports, and deletes its keys when it leaves") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  host.lists = {list_of("a"), list_of("b\xff")};
  REQUIRE(host.has_beaten());
  CHECK(host.refused.empty());
  CHECK(server.command({"ZCARD", "fleet:hosts"}) == "1");
  const long long score = std::stoll(server.command({"ZSCORE", "fleet:hosts", "alpha-00000000"}));
  CHECK(std::abs(score - ms_now(server)) < 60'000);
  const auto heartbeat = parse_heartbeat(server.command({"GET", "fleet:host:alpha-00000000"}));
  REQUIRE(heartbeat.has_value());
  CHECK(heartbeat->host == "alpha");
  CHECK(std::abs(heartbeat->applied.count() - score) < 60'000);
  const auto life = [&](const std::string& key) {
    return std::stoll(server.command({"PTTL", key}));
  };
  CHECK(life("fleet:host:alpha-00000000") <= 60'000);
  CHECK(life("fleet:host:alpha-00000000") > 0);
  CHECK(server.command({"HLEN", "fleet:lists:alpha-00000000"}) == "2");
  CHECK(life("fleet:lists:alpha-00000000") > 0);

  // Only changed list reports are written.
  const long long written = server.calls("hset");
  host.show({list_of("a"), list_of("b\xff", ListState::ineligible)});
  REQUIRE(host.has_beaten());
  CHECK(server.calls("hset") == written + 1);
  CHECK(server.command({"HGET", "fleet:lists:alpha-00000000", "b\xff"}).find("ineligible") !=
        std::string::npos);
  host.show({list_of("a")});
  REQUIRE(host.has_beaten());
  CHECK(server.command({"HKEYS", "fleet:lists:alpha-00000000"}) == "a");
  host.soon();
  REQUIRE(host.has_beaten());
  CHECK(server.calls("hset") == written + 1);

  // After a deletion of the key, all list reports are written again.
  server.command({"DEL", "fleet:lists:alpha-00000000"});
  CHECK(turn_until(loop, [&] {
    host.member.heartbeat_soon();
    return server.command({"HLEN", "fleet:lists:alpha-00000000"}) == "1";
  }));

  bool left = false;
  host.member.leave([&] { left = true; });
  CHECK(turn_until(loop, [&] { return left; }));
  CHECK(server.command({"DBSIZE"}) == "0");
  host.member.heartbeat_soon();
  turn_for(loop, 100ms);
  CHECK(server.command({"DBSIZE"}) == "0");
}

TEST_CASE("a host that leaves while a heartbeat queries the time writes nothing afterwards") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  REQUIRE(host.has_beaten());
  // One of three heartbeats queries the time.
  while (host.heartbeats % 3 != 0) {
    host.soon();
    REQUIRE(host.has_beaten());
  }
  const auto asked = server.calls("time");
  server.command({"CLIENT", "PAUSE", "900"});
  host.member.heartbeat_soon();
  turn_for(loop, 600ms);
  bool left = false;
  host.member.leave([&] { left = true; });
  CHECK(turn_until(loop, [&] { return left; }));
  CHECK(server.calls("time") == asked + 1);
  CHECK(server.command({"DBSIZE"}) == "0");
}

TEST_CASE("a heartbeat removes hosts that died a week ago, and earlier starts of its own host") {
  const RedisServer server;
  const long long now = ms_now(server);
  constexpr long long week = 7LL * 24 * 3600 * 1000;
  put_host(server, "silent-00000000", now - 30'000, "");
  put_host(server, "dead-00000000", now - week + 60'000, "");
  put_host(server, "old-00000000", now - week - 1, "");
  put_host(server, "alpha-11111111", now - 61'000, "");
  put_host(server, "alpha-22222222", now - 30'000, "");
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  REQUIRE(host.has_beaten());
  CHECK(server.command({"ZRANGE", "fleet:hosts", "0", "-1"}) ==
        "dead-00000000\nalpha-22222222\nsilent-00000000\nalpha-00000000");
}

TEST_CASE("a heartbeat keeps the 1,000 hosts that died last") {
  const RedisServer server;
  const long long now = ms_now(server);
  for (int i = 0; i < 1005; ++i) put_host(server, "old" + std::to_string(i), now - 100'000 - i, "");
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  CHECK(turn_until(loop, [&] {
    host.member.heartbeat_soon();
    return server.command({"ZCARD", "fleet:hosts"}) == "1001";
  }));
  CHECK(server.command({"ZSCORE", "fleet:hosts", "old0"}) != "(nil)");
  CHECK(server.command({"ZSCORE", "fleet:hosts", "old1004"}) == "(nil)");
}

TEST_CASE("a heartbeat returns the number of hosts, from two to hundreds") {
  const RedisServer server;
  const long long now = ms_now(server);
  put_host(server, "beta-00000000", now, "");
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  const auto receives_from = [&](std::size_t hosts) {
    return turn_until(loop, [&] {
      host.member.heartbeat_soon();
      return host.seen_hosts == hosts;
    });
  };
  CHECK(receives_from(2));
  for (int i = 0; i < 298; ++i) put_host(server, "host" + std::to_string(i), now, "");
  CHECK(receives_from(300));
  // Dead hosts do not count, although their ids are still there.
  for (int i = 0; i < 60; ++i) put_host(server, "dead" + std::to_string(i), now - 100'000, "");
  CHECK(receives_from(300));
  CHECK(host.seen_most == 300);
}

TEST_CASE("a host sends no heartbeat during an outage of Redis, and one right after it") {
  RedisServer server;
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  host.lists = {list_of("a")};
  REQUIRE(host.has_beaten());
  const int before = host.heartbeats;
  server.kill();
  for (int i = 0; i < 50; ++i) {
    host.member.heartbeat_soon();
    turn_for(loop, 2ms);
  }
  CHECK(host.heartbeats == before);
  server.start();
  CHECK(turn_until(loop, [&] { return host.heartbeats > before; }));
  CHECK(server.command({"HLEN", "fleet:lists:alpha-00000000"}) ==
        "1");  // written to an empty server
  CHECK(server.command({"ZCARD", "fleet:hosts"}) == "1");
  bool left = false;
  server.kill();
  turn_until(loop, [&] { return !host.member.client().connected(); });
  host.member.leave([&] { left = true; });
  CHECK(turn_until(loop, [&] { return left; }));
}

TEST_CASE("a heartbeat reports a key of a wrong type or a missing permission") {
  const RedisServer server;
  server.command({"SET", "fleet:hosts", "garbage"});
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  REQUIRE(host.has_beaten());
  CHECK(host.refused.starts_with("WRONGTYPE"));
  server.command({"DEL", "fleet:hosts"});
  host.soon();
  REQUIRE(host.has_beaten());
  CHECK(host.refused.empty());

  server.command({"ACL", "SETUSER", "default", "resetkeys", "~work:*"});
  BeatingHost stranger(loop, server.url(), "beta");
  REQUIRE(stranger.has_beaten());
  CHECK(stranger.refused.find("NOPERM") != std::string::npos);
}

TEST_CASE("the fleet view shows running and unresponsive hosts, and duplicate names") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost alpha(loop, server.url(), "alpha");
  BeatingHost again(loop, server.url(), "alpha", "fleet", "11111111");
  alpha.lists = {list_of("b", ListState::ineligible), list_of("a")};
  REQUIRE(alpha.has_beaten());
  REQUIRE(again.has_beaten());
  const long long now = ms_now(server);
  HostHeartbeat heartbeat;
  heartbeat.host = "beta";
  heartbeat.state = "running";
  put_host(server, "beta-00000000", now - 40'000, to_text(heartbeat));
  heartbeat.host = "gone";
  put_host(server, "gone-00000000", now - 61'000, to_text(heartbeat));

  Watcher watcher(loop, server.url());
  const FleetView view = watcher.view();
  CHECK(view.error.empty());
  REQUIRE(view.hosts.size() == 4);
  CHECK(view.hosts[3].heartbeat.host == "gone");
  CHECK(view.hosts[3].expired);
  CHECK(view.hosts[3].unresponsive);
  CHECK(view.hosts[3].error.empty());
  CHECK(view.hosts[0].heartbeat.host == "alpha");
  CHECK(view.hosts[0].duplicate_name);
  CHECK(view.hosts[1].duplicate_name);
  CHECK(view.hosts[2].heartbeat.host == "beta");
  CHECK(view.hosts[2].unresponsive);
  CHECK(view.hosts[0].lists.empty());
}

TEST_CASE("the fleet view tolerates invalid data") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost alpha(loop, server.url(), "alpha");
  alpha.lists = {list_of("a")};
  REQUIRE(alpha.has_beaten());
  const long long now = ms_now(server);
  put_host(server, "text-00000000", now, "hello");
  put_host(server, "huge-00000000", now, std::string(1 << 20, 'x'));
  put_host(server, "none-00000000", now, "");
  put_host(server, "list-00000000", now, "");
  server.command({"RPUSH", "fleet:host:list-00000000", "x"});
  put_host(server, std::string(600, 'x'), now, "");
  put_host(server, "past", -5, "");
  put_host(server, "future", now + 3'600'000, "");
  server.command({"ZADD", "fleet:hosts", "inf", "endless"});
  HostHeartbeat odd;
  odd.host = "odd\x1b[31m";
  odd.state = "running";
  put_host(server, "odd-00000000", now, to_text(odd));

  Watcher watcher(loop, server.url());
  const long long sent = server.info("total_net_output_bytes");
  const FleetView view = watcher.view();
  CHECK(server.info("total_net_output_bytes") - sent < 100'000);  // "huge" is not read whole
  CHECK(view.error.empty());
  CHECK(view.hosts.size() == 6);
  for (const char* name : {"text", "huge", "none", "list"}) {
    CAPTURE(name);
    REQUIRE(find(view, name) != nullptr);
    CHECK(find(view, name)->state() == "unknown"s);
  }
  REQUIRE(find(view, "alpha") != nullptr);
  CHECK(find(view, "alpha")->error.empty());
  CHECK(find(view, "huge")->error == "its heartbeat has more than 4096 bytes");
  CHECK(find(view, "list")->error.find("WRONGTYPE") != std::string::npos);
  CHECK(find(view, "odd\x1b[31m") != nullptr);

  server.command({"DEL", "fleet:hosts"});
  server.command({"HSET", "fleet:hosts", "a", "b"});
  const FleetView wrong = watcher.view();
  CHECK(wrong.error.find("fleet:hosts: WRONGTYPE") == 0);
  CHECK_FALSE(wrong.unreachable);
}

TEST_CASE("the fleet view is truncated at 10,000 hosts, and reading it does not block the loop") {
  const RedisServer server;
  loop::Loop loop;
  redis::ServerClient client(loop, options_for(server.url()));
  const std::string now = std::to_string(ms_now(server));
  int missing = 0;
  for (int i = 0; i < 10'001; ++i) {
    const std::string id =
        "same-" + std::to_string(10'000'000 + i);  // one name, as forged entries have
    HostHeartbeat heartbeat;
    heartbeat.host = "same";
    heartbeat.state = "running";
    heartbeat.config_hash = std::string(64, 'a');
    client.call({"ZADD", "fleet:hosts", now, id});
    ++missing;
    client.call({"SET", "fleet:host:" + id, to_text(heartbeat), "PX", "60000"},
                [&](const redis::Answer&) { --missing; });
  }
  REQUIRE(turn_until(loop, [&] { return missing == 0; }));
  Watcher watcher(loop, server.url());
  std::shared_ptr<const FleetView> seen;
  watcher.reader.read([&](const FleetReader::ViewPtr& view) { seen = view; });
  int turns = 0;
  REQUIRE(turn_until(loop, [&] {
    ++turns;
    return seen != nullptr;
  }));
  CHECK(seen->hosts.size() == 10'000);
  CHECK(seen->truncated);
  CHECK(std::ranges::all_of(seen->hosts, [](const auto& host) { return host.error.empty(); }));
  CHECK(turns > 200);
  // Simultaneous readers share one reply.
  const long long before = server.calls("getrange");
  int answered = 0;
  for (int i = 0; i < 3; ++i) watcher.reader.read([&](const FleetReader::ViewPtr&) { ++answered; });
  REQUIRE(turn_until(loop, [&] { return answered == 3; }));
  CHECK(server.calls("getrange") == before + 10'000);
}

TEST_CASE("100 hosts send Redis fewer than 50 commands per second") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  REQUIRE(host.has_beaten());
  // Six heartbeats in a row, each with a changed list report, as in one minute at the usual rate.
  const long long before = commands(server);
  const long long asked = server.calls("info");
  const int heartbeats = host.heartbeats;
  while (host.heartbeats < heartbeats + 6) {
    host.show({list_of("a", host.heartbeats % 2 == 0 ? ListState::idle : ListState::ineligible)});
    REQUIRE(host.has_beaten());
  }
  const long long spent = commands(server) - before - (server.calls("info") - asked);
  MESSAGE("commands of six beats: " << spent);
  // Each of 100 hosts sends six heartbeats in 60 s.
  CHECK(spent * 100 / 60 < 48);
}

TEST_CASE("a fleet command returns the hosts that carried it out and the hosts without a reply") {
  const RedisServer server;
  loop::Loop loop;
  BeatingHost alpha(loop, server.url(), "alpha");
  BeatingHost beta(loop, server.url(), "beta");
  REQUIRE(alpha.has_beaten());
  REQUIRE(beta.has_beaten());
  HostHeartbeat silent = beta.shown;
  silent.host = "gamma";
  put_host(server, "gamma-00000000", ms_now(server) - 40'000, to_text(silent));
  Watcher watcher(loop, server.url());
  Watcher other(loop, server.url());
  std::string heard;
  const auto subscription =
      other.subscriber.subscribe("fleet:control", [&](std::string_view, std::string_view payload) {
        heard = payload;
        const FleetCommand order = std::get<FleetCommand>(parse_command(payload));
        FleetReply answer;
        answer.host = "alpha";
        answer.host_id = "alpha-00000000";
        answer.result = "done";
        answer.text = "quiet now";
        for (const std::string& text :
             {"garbage"s, std::string(max_answer + 1, 'x'), to_text(answer), to_text(answer)})
          other.client->call({"PUBLISH", "fleet:reply:" + order.id, text});
      });
  REQUIRE(turn_until(loop, [&] { return other.subscriber.connected(); }));
  const FleetCommandResult one = watcher.give(FleetCommandKind::quiet, "alpha");
  CHECK(one.error.empty());
  CHECK(one.complete());
  REQUIRE(one.replies.size() == 1);
  CHECK(one.replies.front().text == "quiet now");
  CHECK(std::get<FleetCommand>(parse_command(heard)).until > one.now);

  const FleetCommandResult all = watcher.give(FleetCommandKind::quiet);
  CHECK_FALSE(all.complete());
  CHECK(all.replies.size() == 1);
  REQUIRE(all.no_reply.size() == 2);
  CHECK(all.no_reply[0].host == "beta");
  CHECK_FALSE(all.no_reply[0].unresponsive);
  CHECK(all.no_reply[1].unresponsive);

  const FleetCommandResult nobody = watcher.give(FleetCommandKind::quiet, "delta");
  CHECK(nobody.not_found);
  CHECK(nobody.error == "there is no host delta in the fleet fleet");
}

TEST_CASE("a fleet command fails if it cannot be sent or its replies cannot be received") {
  RedisServer server;
  loop::Loop loop;
  BeatingHost alpha(loop, server.url(), "alpha");
  REQUIRE(alpha.has_beaten());
  server.command({"ACL", "SETUSER", "default", "resetchannels"});
  Watcher watcher(loop, server.url());
  CHECK(watcher.give(FleetCommandKind::quiet).error ==
        "Redis does not permit a subscription to the channels fleet:reply:*; grant them to "
        "this user");
  server.command({"ACL", "SETUSER", "default", "&fleet:reply:*"});
  CHECK(watcher.give(FleetCommandKind::quiet).error.find("fleet:control: NOPERM") !=
        std::string::npos);
  server.kill();
  CHECK(turn_until(loop, [&] { return !watcher.client->connected(); }));
  const FleetCommandResult away = watcher.give(FleetCommandKind::quiet);
  CHECK(away.unreachable);
  CHECK(watcher.view().unreachable);
}

TEST_CASE("a fleet works in a cluster with its keys and channels on any node") {
  const Cluster cluster;
  loop::Loop loop;
  std::vector<std::unique_ptr<BeatingHost>> hosts;
  for (const char* name : {"alpha", "beta", "gamma", "delta"}) {
    hosts.push_back(std::make_unique<BeatingHost>(loop, cluster.url(), name));
    hosts.back()->lists = {list_of("{work}")};
    REQUIRE(hosts.back()->has_beaten());
    CHECK(hosts.back()->refused.empty());
  }
  Watcher watcher(loop, cluster.url());
  const FleetView view = watcher.view();
  CHECK(view.error.empty());
  REQUIRE(view.hosts.size() == 4);
  CHECK(std::ranges::all_of(view.hosts, [](const auto& host) { return host.error.empty(); }));

  Watcher other(loop, cluster.url());
  const auto subscription =
      other.subscriber.subscribe("fleet:control", [&](std::string_view, std::string_view payload) {
        FleetReply answer;
        answer.host = "alpha";
        answer.host_id = "alpha-00000000";
        answer.result = "done";
        const std::string to = "fleet:reply:" + std::get<FleetCommand>(parse_command(payload)).id;
        const std::string text = to_text(answer);
        other.client->call({"PUBLISH", to, text});
      });
  REQUIRE(turn_until(loop, [&] { return other.subscriber.connected(); }));
  CHECK(watcher.give(FleetCommandKind::quiet, "alpha").complete());
  bool left = false;
  hosts[1]->member.leave([&] { left = true; });
  CHECK(turn_until(loop, [&] { return left; }));
  CHECK(watcher.view().hosts.size() == 3);
}

}  // namespace fleet_test
