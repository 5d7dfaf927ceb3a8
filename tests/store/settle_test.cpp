#include <doctest/doctest.h>

#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("a settlement frees, delays or quarantines its item and counts its failures") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(3);
  REQUIRE(reply.claims.size() == 3);
  host.settle(reply.claims[0], store::RestFor{false, 30s}, store::FailureCount::reset);
  host.settle(reply.claims[1], store::RestFor{true, 500ms}, store::FailureCount::increment,
              Crashed{"exit 1"});
  host.settle(reply.claims[2], store::Quarantine{}, store::FailureCount::increment,
              Crashed{"exit 1"});
  CHECK(host.settled());
  CHECK(host.reported.all_settled >= 1);
  CHECK(server.command({"GET", "work:lock:a"}) == "delay:cooldown");
  CHECK(std::stoi(server.command({"PTTL", "work:lock:a"})) > 25000);
  CHECK(server.command({"GET", "work:lock:b"}) == "delay:backoff");
  CHECK(server.command({"GET", "work:lock:c"}) == "quarantine:" + reply.claims[2].run);
  CHECK(server.command({"PTTL", "work:lock:c"}) == "-1");
  CHECK(server.command({"HGET", "work:failures", "b"}) == "1");

  ClaimReply again;
  turn_until(loop, [&] {
    again = host.claim(3);
    return !again.claims.empty();
  });
  CHECK(items_of(again) == std::vector<Item>{"b"});
  CHECK(again.claims[0].attempt == 2);
  host.settle(again.claims[0], store::SetFree{}, store::FailureCount::reset);
  CHECK(host.settled());
  turn_until(loop, [&] { return server.command({"HEXISTS", "work:failures", "b"}) == "0"; });
  CHECK(server.command({"HEXISTS", "work:failures", "b"}) == "0");
}

TEST_CASE("history and events have their fields and limits, and can be switched off") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  Host host(loop, server.url(), rule);

  redis::Subscriber ears(loop, [&] {
    redis::ClientOptions options;
    options.url = redis::parse_url(server.url());
    return options;
  }());
  std::vector<std::string> heard;
  const auto note = [&](std::string_view channel, std::string_view text) {
    heard.push_back(std::string(channel) + " " + std::string(text));
  };
  const auto events = ears.subscribe("work:events", note);
  const auto wake = ears.subscribe("work:wake", note);
  CHECK(turn_until(loop, [&] { return ears.connected(); }));

  const ClaimReply reply = host.claim(1);
  host.source.announce(RunEvent{RunEvent::Kind::start, reply.claims[0].run, "a", {}, {}, 5});
  host.settle(reply.claims[0], store::SetFree{}, store::FailureCount::increment,
              Crashed{"exit status 1"});
  CHECK(turn_until(loop, [&] { return heard.size() == 3; }));
  CHECK(heard[0].starts_with(R"(work:events {"type":"start","list":"work","run":")"));
  CHECK(heard[1].find(R"("outcome":"crashed")") != std::string::npos);
  CHECK(heard[1].find(R"("result":{"data":1})") != std::string::npos);
  CHECK(heard[2] == "work:wake free\nrun:here:77:");

  const std::string entry = server.command({"LRANGE", "work:runs", "0", "-1"});
  for (const std::string& field :
       {"\"run\":\"" + reply.claims[0].run + '"', std::string(R"("item":"a")"),
        std::string(R"("outcome":"crashed")"), std::string(R"("stderr":"tail")"),
        std::string(R"("duration_ms":1000)"), std::string(R"("time_ms":2000)"),
        std::string(R"({"entered_ms":1)")})
    CHECK_MESSAGE(entry.find(field) != std::string::npos, entry);

  rule.history.runs = 100;
  host.use(rule);
  for (int i = 0; i < 500; ++i) {
    host.settle(host.claim(1).claims.at(0));
    host.settled();
  }
  CHECK(server.command({"LLEN", "work:runs"}) == "100");
  server.command({"DEL", "work:runs", "work:fence", "work:failures"});
  rule.keeps_records = false;
  host.use(rule);
  host.settle(host.claim(1).claims.at(0), store::RestFor{false, 1s},
              store::FailureCount::increment);
  host.settled();
  CHECK(server.command({"EXISTS", "work:runs", "work:failures"}) == "0");
}

TEST_CASE("a large record leaves small ones in the history while they fit in history_bytes") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.history = {100, 200'000};
  Host host(loop, server.url(), rule);
  const auto run_once = [&](std::size_t reason) {
    host.settle(host.claim(1).claims.at(0), store::SetFree{}, store::FailureCount::keep,
                Crashed{std::string(reason, 'x')});
    CHECK(host.settled());
  };
  for (int i = 0; i < 50; ++i) run_once(1);
  CHECK(server.command({"EXISTS", "work:sizes"}) == "0");
  run_once(160'000);
  CHECK(server.command({"LLEN", "work:runs"}) == "51");
  CHECK(server.command({"EXISTS", "work:sizes"}) == "1");
  run_once(160'000);
  CHECK(server.command({"LLEN", "work:runs"}) == "1");
}

TEST_CASE("the history deletes its oldest records when it exceeds history_bytes") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.history = {1000, 4000};
  Host host(loop, server.url(), rule);
  const auto run_once = [&](std::size_t reason) {
    host.settle(host.claim(1).claims.at(0), store::SetFree{}, store::FailureCount::keep,
                Crashed{std::string(reason, 'x')});
    CHECK(host.settled());
  };
  for (int i = 0; i < 5; ++i) run_once(1500);
  CHECK(server.command({"LLEN", "work:runs"}) == "2");
  CHECK(server.command({"LRANGE", "work:sizes", "0", "-1"}).starts_with("1"));
  for (int i = 0; i < 30; ++i) run_once(1);
  const int small = std::stoi(server.command({"LLEN", "work:runs"}));
  CHECK(small > 10);
  CHECK(small < 30);
  // The newest record is kept even if it exceeds the limit.
  rule.history.bytes = 1024;
  host.use(rule);
  run_once(2000);
  CHECK(server.command({"LLEN", "work:runs"}) == "1");
  CHECK(server.command({"LLEN", "work:sizes"}) == "1");
  // A key that was deleted by hand causes no error.
  rule.history.bytes = 1'000'000;
  host.use(rule);
  server.command({"DEL", "work:sizes"});
  run_once(1);
  CHECK(server.command({"LLEN", "work:runs"}) == "2");
  server.command({"DEL", "work:runs"});
  run_once(1);
  CHECK(server.command({"LLEN", "work:runs"}) == "1");
}

TEST_CASE("the output of a successful run is kept if keep_output is set") {
  for (const bool wanted : {true, false}) {
    CAPTURE(wanted);
    RedisServer server;
    server.command({"RPUSH", "work:list", "a"});
    loop::Loop loop;
    ListConfig rule = list_rule();
    rule.keep_output = wanted;
    Host host(loop, server.url(), rule);
    host.settle(host.claim(1).claims.at(0));
    CHECK(host.settled());
    const std::string entry = server.command({"LRANGE", "work:runs", "0", "-1"});
    CHECK(entry.find(R"("outcome":"succeeded")") != std::string::npos);
    CHECK((entry.find(R"("stderr":"tail")") != std::string::npos) == wanted);
  }
}

TEST_CASE("a settlement never changes the lock of another holder") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(2);
  server.command({"SET", "work:lock:a", "run:other:1:x", "PX", "60000"});
  server.command({"SET", "work:lock:b", "quarantine:manual"});
  host.settle(reply.claims[0], store::RestFor{true, 1s}, store::FailureCount::increment,
              Crashed{"x"});
  host.source.hand_back(reply.claims[1]);
  CHECK(host.settled());
  CHECK(server.command({"GET", "work:lock:a"}) == "run:other:1:x");
  CHECK(std::stoi(server.command({"PTTL", "work:lock:a"})) > 50000);
  CHECK(server.command({"GET", "work:lock:b"}) == "quarantine:manual");
  CHECK(server.command({"HEXISTS", "work:failures", "a"}) == "0");
}

TEST_CASE("the record of a run whose lock is gone waits for a server that accepts writes") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(1);
  server.command({"DEL", "work:lock:a"});
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  const auto before = server.calls("evalsha");
  host.settle(reply.claims[0]);
  CHECK(turn_until(loop, [&] { return server.calls("evalsha") > before + 2; }));
  CHECK(host.source.unsettled() == 1);
  server.command({"REPLICAOF", "NO", "ONE"});
  CHECK(host.settled());
  CHECK(server.command({"LLEN", "work:runs"}) == "1");
  CHECK(host.reported.unwritten.empty());
}

TEST_CASE("the sweep ends the quarantine of an item that was removed during its run") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  server.command({"HSET", "work:failures", "a", "2"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(1);
  server.command({"LREM", "work:list", "0", "a"});
  host.settle(reply.claims.at(0), store::Quarantine{}, store::FailureCount::increment,
              Crashed{"x"});
  CHECK(host.settled());
  CHECK(server.command({"GET", "work:lock:a"}).starts_with("quarantine:"));
  host.session->circular.sweep.step();
  CHECK(turn_until(loop, [&] {
    return server.command({"EXISTS", "work:lock:a", "work:failures", "work:quarantined"}) == "0";
  }));
}

TEST_CASE("the sweep keeps the quarantines of a list that is deleted and pushed again") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  server.command({"SET", "work:lock:a", "quarantine:manual"});
  server.command({"HSET", "work:quarantined", "a", "manual"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  server.command({"DEL", "work:list"});
  const auto before = server.calls("evalsha");
  host.session->circular.sweep.step();
  REQUIRE(turn_until(loop, [&] { return server.calls("evalsha") > before; }));
  server.command({"RPUSH", "work:list", "a", "b"});
  const ClaimReply reply = host.claim(2);
  REQUIRE(reply.claims.size() == 1);
  CHECK(reply.claims.front().item == "b");
}

TEST_CASE("the sweep of a list without failures, quarantines and marks is one command") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const auto scripts = server.calls("evalsha") + server.calls("eval");
  const auto exists = server.calls("exists"), hlen = server.calls("hlen");
  host.session->circular.sweep.step();
  REQUIRE(
      turn_until(loop, [&] { return server.calls("evalsha") + server.calls("eval") > scripts; }));
  CHECK(server.calls("exists") == exists + 1);
  CHECK(server.calls("hlen") == hlen);
}

TEST_CASE("a claim that is handed back leaves only the fence") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.fleet_concurrency = 5;
  Host host(loop, server.url(), rule);
  host.source.hand_back(host.claim(1).claims.at(0));
  CHECK(host.settled());
  CHECK(server.command({"KEYS", "*"}).find("work:lock:") == std::string::npos);
  CHECK(server.command({"ZCARD", "work:slots"}) == "0");
  CHECK(server.command({"EXISTS", "work:runs"}) == "0");
}

TEST_CASE("a settlement during an outage is written once when Redis is available again") {
  RedisServer server({.config = {"appendonly yes", "appendfsync always"}});
  server.command({"RPUSH", "work:list", "a", "b"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.key_expiry = 60s;
  Host host(loop, server.url(), rule);
  const ClaimReply reply = host.claim(2);
  server.kill();
  host.settle(reply.claims[0], store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
  turn_for(loop, 100ms);
  host.settle(reply.claims[1]);
  CHECK(host.source.unsettled() == 2);
  server.start();
  CHECK(host.settled());
  CHECK(host.reported.backs >= 1);
  CHECK(server.command({"EXISTS", "work:lock:a", "work:lock:b"}) == "0");
  CHECK(server.command({"HGET", "work:failures", "a"}) == "1");
  CHECK(server.command({"LLEN", "work:runs"}) == "2");
}

TEST_CASE("settlements for a removed server are abandoned one key_expiry after their leases end") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.key_expiry = 1s;
  Host host(loop, server.url(), rule);
  const ClaimReply reply = host.claim(2);
  REQUIRE(reply.claims.size() == 2);
  const Instant claimed = loop.now();
  std::size_t given_up = 0;
  std::string of;
  host.session->retire([&](const std::string& list, std::size_t runs) {
    of = list;
    given_up += runs;
  });
  server.kill();
  host.settle(reply.claims[0]);
  CHECK(turn_until(loop, [&] { return host.reported.lost.size() == 1; }));  // of the other run
  host.settle(reply.claims[1]);
  CHECK(host.source.unsettled() == 2);
  CHECK(host.settled());
  CHECK(loop.now() - claimed > 1500ms);  // a lease of 1 s, and another second
  CHECK(given_up == 2);
  CHECK(of == "work:list");
  CHECK(host.reported.all_settled >= 1);
}
