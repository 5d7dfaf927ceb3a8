// Settlements that share a call to Redis, and settlements that do not.
#include <doctest/doctest.h>

#include <sstream>

#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace settle_together_test {
namespace {

long long scripts_run(const RedisServer& server) {
  return server.calls("eval") + server.calls("evalsha");
}

void fill(const RedisServer& server, int items) {
  for (int i = 0; i < items; ++i) server.command({"RPUSH", "work:list", "i" + std::to_string(i)});
}

}  // namespace

TEST_CASE("settlements share a call while more items are held, and each is written on its own") {
  RedisServer server;
  for (const char* item : {"a", "b", "c", "d", "e", "f"})
    server.command({"RPUSH", "work:list", item});
  server.command({"HSET", "work:failures", "c", "2", "d", "2"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(5);
  REQUIRE(reply.claims.size() == 5);
  server.command({"DEL", "work:lock:a"});
  server.command({"SET", "work:lock:b", "run:other:1:x"});
  const auto before = scripts_run(server);
  host.settle(reply.claims[0], store::RestFor{true, 30s}, store::FailureCount::increment,
              Crashed{"x"});
  host.settle(reply.claims[1], store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
  host.settle(reply.claims[2], store::RestFor{false, 30s}, store::FailureCount::reset);
  host.settle(reply.claims[3], store::SetFree{}, store::FailureCount::reset);
  CHECK(host.settled());
  CHECK(scripts_run(server) - before == 1);
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
  CHECK(server.command({"GET", "work:lock:b"}) == "run:other:1:x");
  CHECK(server.command({"GET", "work:lock:c"}) == "delay:cooldown");
  CHECK(std::stoi(server.command({"PTTL", "work:lock:c"})) > 25000);
  CHECK(server.command({"EXISTS", "work:lock:d"}) == "0");
  CHECK(server.command({"EXISTS", "work:lock:e"}) == "1");
  CHECK(server.command({"EXISTS", "work:failures"}) == "0");
  CHECK(server.command({"LLEN", "work:runs"}) == "4");
  const std::string entries = server.command({"LRANGE", "work:runs", "0", "-1"});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(entries.find("\"run\":\"" + reply.claims[i].run) != std::string::npos);
}

TEST_CASE("settlements of several kinds in one call have a run record each") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < 30; ++i) push.push_back("item " + std::to_string(i));
  server.command(push);
  const ClaimReply reply = host.claim(30);
  REQUIRE(reply.claims.size() == 30);
  const auto before = scripts_run(server);
  for (std::size_t i = 0; i < 30; ++i) {
    const std::string why = "why " + std::to_string(i);
    if (i % 3 == 0) host.settle(reply.claims[i]);
    if (i % 3 == 1)
      host.settle(reply.claims[i], store::RestFor{true, 30s}, store::FailureCount::increment,
                  Failed{why});
    if (i % 3 == 2)
      host.settle(reply.claims[i], store::RestFor{false, 30s}, store::FailureCount::reset);
  }
  CHECK(host.settled());
  CHECK(scripts_run(server) - before <= 2);
  std::istringstream lines(server.command({"LRANGE", "work:runs", "0", "-1"}));
  std::vector<std::string> entries;
  for (std::string line; std::getline(lines, line);) entries.insert(entries.begin(), line);
  REQUIRE(entries.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) {
    const bool failed = i % 3 == 1;
    const std::string& entry = entries[i];
    CAPTURE(entry);
    const auto says = [&](const std::string& member) {
      return entry.find(member) != std::string::npos;
    };
    CHECK(says(R"({"entered_ms":1)") == (i == 29));
    CHECK(says("\"run\":\"" + reply.claims[i].run + '"'));
    CHECK(says("\"item\":\"item " + std::to_string(i) + '"'));
    CHECK(says("\"fence\":" + std::to_string(reply.claims[i].fence.value()) + ','));
    CHECK(says(failed ? R"("outcome":"failed")" : R"("outcome":"succeeded")"));
    CHECK(says("\"reason\":") == failed);
    if (failed) CHECK(says("\"reason\":\"why " + std::to_string(i) + '"'));
    const std::string lock = server.command({"GET", "work:lock:item " + std::to_string(i)});
    CHECK(lock == (i % 3 == 0 ? "(nil)" : failed ? "delay:backoff" : "delay:cooldown"));
  }
}

TEST_CASE("a lock of a wrong type is not changed and does not prevent other settlements") {
  RedisServer server;
  fill(server, 4);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(3);
  server.command({"DEL", "work:lock:i0", "work:failures", "work:runs"});
  server.command({"RPUSH", "work:lock:i0", "not ours"});
  server.command({"SET", "work:failures", "of a wrong type"});
  server.command({"SET", "work:runs", "of a wrong type"});
  host.settle(reply.claims[0], store::RestFor{true, 1s}, store::FailureCount::increment,
              Crashed{"x"});
  host.settle(reply.claims[1], store::RestFor{false, 30s}, store::FailureCount::reset);
  host.settle(reply.claims[2]);
  CHECK(host.settled());
  CHECK(server.command({"LRANGE", "work:lock:i0", "0", "-1"}) == "not ours");
  CHECK(server.command({"GET", "work:lock:i1"}) == "delay:cooldown");
  CHECK(server.command({"EXISTS", "work:lock:i2"}) == "0");
}

TEST_CASE("an ACL that forbids one lock does not prevent other settlements of the same call") {
  RedisServer server({.config = {"user some on nopass ~* &* +@all"}});
  fill(server, 4);
  loop::Loop loop;
  std::string url = server.url();
  Host host(loop, url.insert(std::string("unix://").size(), "some:x@"), list_rule());
  const ClaimReply reply = host.claim(3);
  server.command({"ACL", "SETUSER", "some", "resetkeys", "~work:[^l]*", "~work:list",
                  "~work:lock:i1", "~work:lock:i2"});
  for (const Claim& claim : reply.claims) host.settle(claim);
  // The time limit of 400 ms is before the retry of the refused settlement, which follows after 500
  // ms.
  CHECK(turn_until(
      loop, [&] { return host.source.unsettled() == 1; }, 400ms));
  CHECK(server.command({"EXISTS", "work:lock:i0", "work:lock:i1", "work:lock:i2"}) == "1");
  server.command({"ACL", "SETUSER", "some", "~*"});
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:i0"}) == "0");
  CHECK(server.command({"LLEN", "work:runs"}) == "3");
}

TEST_CASE("settlements wait for a server that is out of memory, and none is written twice") {
  RedisServer server;
  fill(server, 4);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(3);
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  for (const Claim& claim : reply.claims)
    host.settle(claim, store::RestFor{true, 30s}, store::FailureCount::increment, Crashed{"x"});
  turn_for(loop, 100ms);
  CHECK(host.source.unsettled() == 3);
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  CHECK(host.settled());
  for (const char* item : {"i0", "i1", "i2"}) {
    CHECK(server.command({"GET", std::string("work:lock:") + item}) == "delay:backoff");
    CHECK(server.command({"HGET", "work:failures", item}) == "1");
  }
  CHECK(server.command({"LLEN", "work:runs"}) == "3");
}

TEST_CASE("settlements in quick succession share calls unless their items or slots may be needed") {
  RedisServer server;
  fill(server, 80);
  loop::Loop loop;
  ListConfig rule = list_rule();
  Host host(loop, server.url(), rule);
  const auto settle_in_turns = [&](const ClaimReply& reply) {
    const auto before = scripts_run(server);
    for (std::size_t i = 0; i + 1 < reply.claims.size(); ++i) {
      host.settle(reply.claims[i]);
      loop.iterate(false);
    }
    host.settled();
    host.settle(reply.claims.back());
    host.settled();
    return scripts_run(server) - before;
  };
  const ClaimReply some = host.claim(30);
  CHECK(some.end == ClaimEnd::more);
  CHECK(settle_in_turns(some) < 15);
  // The last claim returned all free items, so that each item is released at once.
  const ClaimReply all = host.claim(81);
  CHECK(all.claims.size() == 80);
  CHECK(settle_in_turns(all) == 80);
  rule.fleet_concurrency = 100;
  host.use(rule);
  const ClaimReply fleet = host.claim(30);
  CHECK(fleet.end == ClaimEnd::more);
  CHECK(settle_in_turns(fleet) == 30);
  CHECK(server.command({"KEYS", "work:lock:*"}).find("work") == std::string::npos);
}

TEST_CASE("a single settlement is sent at once, and collected settlements before the next claim") {
  RedisServer server;
  fill(server, 40);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply one = host.claim(1);
  const auto sent = [&] { return host.session->client.commands_sent(); };
  auto before = sent();
  host.settle(one.claims[0]);
  CHECK(sent() - before == 1);
  CHECK(host.settled());

  const ClaimReply some = host.claim(10);
  for (std::size_t i = 0; i < 9; ++i) host.settle(some.claims[i]);
  before = sent();
  host.source.claim(1, store::Scan::whole, store::Manner::in_turn);
  CHECK(sent() - before == 2);
  CHECK(turn_until(loop, [&] { return host.reported.replies.size() == 3; }));
  CHECK(host.source.unsettled() == 0);
}

TEST_CASE("one call settles a limited number of runs, and a quarantine has a call of its own") {
  RedisServer server;
  fill(server, 120);
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.history.runs = 7;
  Host host(loop, server.url(), rule);
  const ClaimReply reply = host.claim(104);
  REQUIRE(reply.claims.size() == 104);
  auto before = scripts_run(server);
  for (std::size_t i = 0; i < 100; ++i) host.settle(reply.claims[i]);
  CHECK(host.settled());
  CHECK(scripts_run(server) - before == 4);
  CHECK(server.command({"LLEN", "work:runs"}) == "7");
  before = scripts_run(server);
  for (std::size_t i = 100; i < 103; ++i) host.settle(reply.claims[i], store::Quarantine{});
  CHECK(host.settled());
  CHECK(scripts_run(server) - before == 3);
}

TEST_CASE("events are published in order, also with collected settlements") {
  RedisServer server;
  fill(server, 40);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  redis::ClientOptions options;
  options.url = redis::parse_url(server.url());
  redis::Subscriber ears(loop, options);
  std::vector<std::string> heard;
  const auto events = ears.subscribe("work:events", [&](std::string_view, std::string_view text) {
    const auto run = text.substr(text.find("\"run\":\"") + 7, 26);
    heard.push_back(std::string(text.substr(9, 3)) + " " + std::string(run));
  });
  CHECK(turn_until(loop, [&] { return ears.connected(); }));
  const ClaimReply reply = host.claim(20);
  REQUIRE(reply.claims.size() == 20);
  std::vector<std::string> said;
  for (const Claim& claim : reply.claims) {
    host.source.announce(RunEvent{RunEvent::Kind::start, claim.run, claim.item, {}, {}, 5});
    host.settle(claim);
    said.push_back("sta " + claim.run);
    said.push_back("end " + claim.run);
    loop.iterate(false);
  }
  CHECK(turn_until(loop, [&] { return heard.size() == said.size(); }));
  for (const Claim& claim : reply.claims) {
    const auto start = std::ranges::find(heard, "sta " + claim.run);
    const auto end = std::ranges::find(heard, "end " + claim.run);
    CHECK(start < end);
    CHECK(end != heard.end());
  }
}

TEST_CASE("collected settlements are sent when their list is destroyed") {
  RedisServer server;
  fill(server, 40);
  loop::Loop loop;
  auto host = std::make_unique<Host>(loop, server.url(), list_rule());
  const ClaimReply reply = host->claim(10);
  for (std::size_t i = 0; i < 5; ++i) host->settle(reply.claims[i]);
  const auto session = host->session;
  host.reset();
  CHECK(turn_until(loop, [&] { return server.command({"LLEN", "work:runs"}) == "5"; }));
}

}  // namespace settle_together_test
