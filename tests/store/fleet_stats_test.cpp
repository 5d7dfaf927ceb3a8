// Statistics over time beside the heartbeats of a host, with and without permissions.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/beating_host.hpp"
#include "support/redis_server.hpp"

using namespace w8y;
using namespace w8y::test;

namespace fleet_stats_test {
namespace {

/// Permissions for circular lists and the fleet before there were statistics, for these keys.
std::vector<std::string> earlier_permissions(const std::vector<std::string>& keys) {
  std::vector<std::string> words = {"ACL", "SETUSER", "default", "resetkeys", "-@all"};
  for (const char* command : {"+ping",
                              "+info",
                              "+client|setname",
                              "+subscribe",
                              "+unsubscribe",
                              "+publish",
                              "+eval",
                              "+evalsha",
                              "+time",
                              "+get",
                              "+getrange",
                              "+set",
                              "+del",
                              "+pttl",
                              "+pexpire",
                              "+hmget",
                              "+hset",
                              "+hdel",
                              "+hexists",
                              "+hlen",
                              "+hscan",
                              "+zadd",
                              "+zrem",
                              "+zcard",
                              "+zrange",
                              "+zrevrangebyscore",
                              "+acl"})
    words.emplace_back(command);
  words.insert(words.end(), keys.begin(), keys.end());
  return words;
}

MinuteStats one_run(const BeatingHost& host, std::optional<std::string> list) {
  MinuteStats stats;
  stats.list = std::move(list);
  stats.count = {std::chrono::floor<std::chrono::minutes>(host.wall()).count(), 1, 0};
  stats.durations.add(5ms);
  return stats;
}

}  // namespace

TEST_CASE("permissions from before statistics existed are enough to add statistics") {
  const RedisServer server;
  server.command(earlier_permissions({"~fleet:*", "&*"}));
  // The handshake uses it. Before 7.2, Redis does not have it and refuses this command as a whole.
  server.command({"ACL", "SETUSER", "default", "+client|setinfo"});
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  host.counts = {one_run(host, std::nullopt), one_run(host, "work")};
  REQUIRE(host.has_beaten());
  CHECK(host.refused.empty());
  CHECK(host.stats_replies == std::vector<std::string>{""});
  server.command({"ACL", "SETUSER", "default", "+@all"});
  CHECK(server.command({"HLEN", "fleet:series"}) == "2");
  CHECK(server.command({"HLEN", "fleet:series:work"}) == "2");
  CHECK(server.command({"ACL", "LOG"}).empty());
}

TEST_CASE("a host reports refused statistics, and its heartbeat is accepted") {
  const RedisServer server;
  server.command(earlier_permissions(
      {"~fleet:hosts", "~fleet:host:*", "~fleet:lists:*", "~fleet:minute:*", "&*"}));
  loop::Loop loop;
  BeatingHost host(loop, server.url(), "alpha");
  host.counts = {one_run(host, std::nullopt), one_run(host, "work")};
  REQUIRE(host.has_beaten());
  CHECK(host.refused.empty());
  REQUIRE(host.stats_replies.size() == 1);
  CHECK(host.stats_replies[0].find("NOPERM") != std::string::npos);
  // A heartbeat without statistics reports nothing about them.
  host.soon();
  REQUIRE(host.has_beaten());
  CHECK(host.stats_replies.size() == 1);
  server.command({"ACL", "SETUSER", "default", "~fleet:*"});
  host.counts = {one_run(host, "work")};
  host.soon();
  REQUIRE(host.has_beaten());
  REQUIRE(host.stats_replies.size() == 2);
  CHECK(host.stats_replies[1].empty());
}

}  // namespace fleet_stats_test
