// Scans of claims: number of commands that Redis executes.
#include <doctest/doctest.h>

#include "host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace scan_test {
namespace {

/// Items "0" to "599". All but the first are delayed, each 250 ms longer than the one before.
struct ScanFixture {
  ScanFixture() {
    std::vector<std::string> push{"RPUSH", "work:list"};
    for (int i = 0; i < 600; ++i) {
      push.push_back(std::to_string(i));
      const std::string time = std::to_string(60000 + 250 * i);
      if (i > 0) server.command({"SET", "work:lock:" + push.back(), "delay:cooldown", "PX", time});
    }
    server.command(push);
  }
  /// Returns how often scripts and clients have called a command since CONFIG RESETSTAT.
  int calls(const std::string& command) const {
    const std::string stats = server.command({"INFO", "commandstats"});
    const std::string before = "cmdstat_" + command + ":calls=";
    const auto at = stats.find(before);
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + before.size()));
  }

  RedisServer server;
  loop::Loop loop;
  Host host{loop, server.url(), list_rule()};
};

}  // namespace

TEST_CASE("a claim of one item in a long list of delayed items needs few commands") {
  ScanFixture at;
  at.host.claim(1);  // checks the permissions
  at.server.command({"DEL", "work:lock:1"});
  at.server.command({"CONFIG", "RESETSTAT"});
  const ClaimReply reply = at.host.claim(30, store::Scan::ends);
  CHECK(items_of(reply) == std::vector<Item>{"1"});
  CHECK(reply.next_free.value_or(0ms) > 59s);  // of item 2
  CHECK(reply.next_free.value_or(0ms) < 61s);
  CHECK(at.calls("set") <= 3);
  CHECK(at.calls("exists") <= 12);
  CHECK(at.calls("lrange") <= 8);
  CHECK(at.calls("pttl") <= 18);
  CHECK(at.calls("getrange") <= 12);
}

}  // namespace scan_test
