#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "store/host.hpp"
#include "store/scripts.hpp"

using namespace w8y;
using namespace w8y::test;

namespace lease_test {
namespace {

ListConfig short_leases() {
  ListConfig rule = list_rule();
  rule.key_expiry = 2s;
  return rule;
}

}  // namespace

TEST_CASE("a lease is renewed while it is held and expires afterwards") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  auto host = std::make_unique<Host>(loop, server.url(), short_leases());
  CHECK(host->claim(1).claims.size() == 1);
  int least = 2000;
  turn_until(
      loop,
      [&] {
        least = std::min(least, std::stoi(server.command({"PTTL", "work:lock:a"})));
        return false;
      },
      3s);
  CHECK(least > 300);
  CHECK(host->reported.lost.empty());
  host.reset();
  CHECK(turn_until(loop, [&] { return server.command({"EXISTS", "work:lock:a"}) == "0"; }));
}

TEST_CASE("a renewal never extends the lock of another holder") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  const RunId run = host.claim(1).claims.at(0).run;
  server.command({"SET", "work:lock:a", "run:other:1:x", "PX", "1400"});
  CHECK(turn_until(loop, [&] { return !host.reported.lost.empty(); }));
  CHECK(host.reported.lost == std::vector<RunId>{run});
  CHECK(host.reported.back.empty());
  // When the other lock has expired, the lease is regained.
  CHECK(turn_until(loop, [&] { return !host.reported.back.empty(); }));
  CHECK(server.command({"GET", "work:lock:a"}).ends_with(run));
}

TEST_CASE("a missing lease is lost and not regained if on_lease_loss is terminate") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = short_leases();
  rule.on_lease_loss = OnLeaseLoss::terminate;
  Host host(loop, server.url(), rule);
  CHECK(host.claim(1).claims.size() == 1);
  server.command({"DEL", "work:lock:a"});
  CHECK(turn_until(loop, [&] { return host.reported.lost.size() == 1; }));
  turn_for(loop, 500ms);
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE("a renewal that is in flight for longer than its lease does not lock the item again") {
  RedisServer server;
  const std::string text(store::scripts::renew.text);
  const std::string far = "99999999999999", life = "2000", value = "run:here:1:x";
  const auto renew = [&](const std::string& until) {
    return server.command({"EVAL", text, "2", "work:slots", "work:lock:a", life, "0", until,
                           "work:lock:", "work:proc:", "0", value, "", "1"});
  };
  CHECK(renew("0").ends_with("\n3"));
  CHECK(renew("1000").ends_with("\n3"));
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
  CHECK(renew(far).ends_with("\n2"));
  CHECK(server.command({"GET", "work:lock:a"}) == value);
  CHECK(renew("0").ends_with("\n1"));
}

TEST_CASE("an outage of Redis makes a lease first expiring, then lost, and then regained") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  const Instant before = loop.now();
  CHECK(host.claim(1).claims.size() == 1);
  server.pause();
  CHECK(turn_until(loop, [&] { return !host.reported.expiring.empty(); }));
  CHECK(loop.now() - before < 2s);
  CHECK(host.reported.lost.empty());
  CHECK(turn_until(loop, [&] { return !host.reported.lost.empty(); }));
  CHECK(host.reported.expiring.size() == 1);
  server.resume();
  CHECK(turn_until(loop, [&] { return !host.reported.back.empty(); }));
}

TEST_CASE("a run whose lease has ended counts no failure, even if its lock exists") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  const Claim claim = host.claim(1).claims.at(0);
  const auto settle = [&] {
    host.settle(claim, store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
  };
  SUBCASE("the lease has not ended") {
    settle();
    CHECK(host.settled());
    CHECK(server.command({"HGET", "work:failures", "a"}) == "1");
  }
  SUBCASE("the lease has ended") {
    CHECK(server.command({"PERSIST", "work:lock:a"}) == "1");
    server.pause();
    CHECK(turn_until(loop, [&] { return !host.reported.lost.empty(); }));
    settle();
    server.resume();
    CHECK(host.settled());
    CHECK(server.command({"EXISTS", "work:failures"}) == "0");
  }
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE("after a stall, a claim may not start a run before the timers have reported its lease") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  const Claim claim = host.claim(1).claims.at(0);
  CHECK(host.source.may_start(claim));
  const Instant claimed = loop.clock().now();
  // The loop does not run its timers meanwhile.
  wait_until("the lease to be too old", [&] { return !host.source.may_start(claim); });
  CHECK(loop.clock().now() < claimed + 2s);  // and so before the lease has ended
  CHECK(host.reported.expiring.empty());
}

TEST_CASE("renewals of 1,000 leases share calls") {
  RedisServer server;
  for (int i = 0; i < 1000; ++i) server.command({"RPUSH", "work:list", std::to_string(i)});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  while (host.reported.claims.size() < 1000) host.claim(250);
  const auto before = host.session->client.commands_sent();
  turn_for(loop, 3s);
  CHECK(host.reported.lost.empty());
  // Five renewals of 1,000 leases, 200 per call. At first, some calls renew fewer leases.
  CHECK(host.session->client.commands_sent() - before <= 80);
  store::Margins& margins = host.session->leases.margins();
  REQUIRE(margins.least());
  CHECK(*margins.least() > 300ms);
  CHECK(margins.recent(loop.now()) == margins.least());
}

TEST_CASE("a message on the wake channel or a new connection wakes a list") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(host.claim(1).end == ClaimEnd::empty);
  host.source.listen(true);
  CHECK(turn_until(loop, [&] { return host.session->subscriber.connected(); }));
  host.reported.wakes = 0;
  server.command({"PUBLISH", "work:wake", "added"});
  CHECK(turn_until(loop, [&] { return host.reported.wakes == 1; }));
  const int backs = host.reported.backs;
  server.kill();
  CHECK(host.claim(1).end == ClaimEnd::unavailable);
  server.start();
  CHECK(turn_until(loop, [&] { return host.reported.backs > backs; }));
}

TEST_CASE("a reload before the reply to a claim leaves the lease on the key that was locked") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  turn_until(loop, [&] { return host.session->client.connected(); });
  host.source.claim(1, store::Scan::whole, store::Manner::in_turn);
  ListConfig changed = list_rule();
  changed.key_expiry = 60s;
  changed.circular().lock_key = "proc";
  host.use(changed);
  CHECK(turn_until(loop, [&] { return !host.reported.claims.empty(); }));
  turn_for(loop, 3s);
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "1");
  host.settle(host.reported.claims.at(0));
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:a", "work:proc:a"}) == "0");
}

TEST_CASE("a renewal that Redis executes after the settlement leaves no lock") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  CHECK(host.claim(2).claims.size() == 2);
  turn_for(loop, 500ms);  // so that renewals send the hash of the script
  for (int i = 0; i < 5; ++i) {
    server.command({"SCRIPT", "FLUSH"});
    host.session->leases.renew_now();
    turn_until(loop, [&, count = 0]() mutable { return ++count == 2; });
    if (i == 0) host.settle(host.reported.claims.at(0));
    turn_for(loop, 50ms);
  }
  CHECK(host.settled());
  CHECK(turn_until(loop, [&] { return server.command({"EXISTS", "work:lock:a"}) == "0"; }));
}

TEST_CASE("a claim whose reply came too late starts no run") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), short_leases());
  turn_until(loop, [&] { return host.session->client.connected(); });
  server.pause();
  host.source.claim(1, store::Scan::whole, store::Manner::in_turn);
  turn_for(loop, 1500ms);
  server.resume();
  CHECK(turn_until(loop, [&] { return !host.reported.replies.empty(); }));
  CHECK(host.reported.claims.empty());
  CHECK(host.reported.replies[0].end == ClaimEnd::unavailable);
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE("lease margins keep the minimum since the start and of the last one to two minutes") {
  store::Margins margins;
  const Instant start{std::chrono::hours(1)};
  CHECK(!margins.least());
  CHECK(!margins.recent(start));
  margins.note(start, 3s);
  margins.note(start + 30s, 2s);
  margins.note(start + 40s, 4s);
  CHECK(margins.recent(start + 59s) == 2s);
  margins.note(start + 61s, 5s);
  CHECK(margins.recent(start + 90s) == 2s);
  margins.note(start + 125s, 6s);
  CHECK(margins.recent(start + 126s) == 5s);
  CHECK(margins.least() == 2s);
  CHECK(!margins.recent(start + 600s));
  CHECK(margins.least() == 2s);
}

}  // namespace lease_test
