// Breakers of lists on a real server: windows, probes, and the items and jobs of an outage.
#include <doctest/doctest.h>

#include "operator/changes.hpp"
#include "store/circular/keys.hpp"
#include "store/job_host.hpp"
#include "store/schedule_host.hpp"

using namespace w8y;
using namespace w8y::test;
using store::FailureCount;

namespace breaker_test {
namespace {

/// Opens after three failures among four runs; the first probe is after 20 ms.
ListConfig with_breaker(ListConfig rule) {
  rule.breaker = {75, 4};
  rule.max_failures = 2;
  rule.backoff = Backoff{20ms, 60ms, 2.0};
  rule.key_expiry = 60s;
  return rule;
}

/// Server with six items and two hosts.
struct Place {
  Place() {
    server.command({"RPUSH", "work:list", "a", "b", "c", "d", "e", "f"});
    for (const char* name : {"here", "there"})
      hosts.push_back(std::make_unique<Host>(loop, server.url(), with_breaker(list_rule()), name));
  }
  Host& here() { return *hosts[0]; }
  Host& there() { return *hosts[1]; }
  /// Settles a run as a failure that reaches max_failures, or not.
  void fail(Host& host, const Claim& claim, bool quarantines, const char* why = "HTTP 503") {
    host.settle(claim,
                quarantines ? store::Rest(store::Quarantine{30s}) : store::RestFor{true, 40s},
                FailureCount::increment, Failed{why});
    CHECK(host.settled());
  }
  void succeed(Host& host, const Claim& claim) {
    host.settle(claim, store::SetFree{}, FailureCount::reset);
    CHECK(host.settled());
  }
  std::string field(const std::string& name) const {
    return server.command({"HGET", "work:breaker", name});
  }
  /// Opens the breaker with three failures of this host, the last of which would quarantine.
  void open() {
    const ClaimReply reply = here().claim(3);
    REQUIRE(reply.claims.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) fail(here(), reply.claims[i], i == 2);
    REQUIRE(field("since") != "(nil)");
  }
  /// Claims until the claim is a probe.
  Claim probe(Host& host) {
    for (int i = 0; i < 200; ++i) {
      const ClaimReply reply = host.claim(4);
      CHECK(reply.end == ClaimEnd::breaker);
      if (!reply.claims.empty()) {
        CHECK(reply.claims.size() == 1);
        return reply.claims.front();
      }
      REQUIRE(reply.next_free);
      REQUIRE(*reply.next_free <= 60ms);  // a longer time is the lease of another probe
      turn_for(loop, *reply.next_free);
    }
    return {};
  }

  RedisServer server;
  loop::Loop loop;
  std::vector<std::unique_ptr<Host>> hosts;
};

}  // namespace

TEST_CASE("claims and settlements of a list without a breaker do not read the key") {
  Place place;
  place.here().use(list_rule());
  place.server.command({"SET", "work:breaker", "any read of a hash would fail"});
  const ClaimReply reply = place.here().claim(4);
  CHECK(reply.claims.size() == 4);
  for (const Claim& claim : reply.claims) place.fail(place.here(), claim, true);
  CHECK(place.here().reported.unwritten.empty());
  CHECK(place.server.command({"TYPE", "work:breaker"}) == "string");
  CHECK(place.server.command({"HLEN", "work:quarantined"}) == "4");
}

TEST_CASE("the window has the last runs of all hosts, and items of runs that failed") {
  Place place;
  std::vector<std::string> runs;
  for (int i = 0; i < 6; ++i) {
    Host& host = *place.hosts[static_cast<std::size_t>(i) % 2];
    const Claim claim = host.claim(1).claims.at(0);
    runs.push_back("" + claim.run);
    i % 3 == 1 ? place.fail(host, claim, false) : place.succeed(host, claim);
  }
  CHECK(place.field("window") == runs[2] + "+" + runs[3] + "+" + runs[4] + "-" + runs[5] + "+");
  CHECK(place.field("item:" + runs[4]) == "fe");
  CHECK(place.field("item:" + runs[1]) == "(nil)");
  CHECK(place.field("since") == "(nil)");
}

TEST_CASE("runs that were cancelled, lost or never started are not entered") {
  Place place;
  const ClaimReply reply = place.here().claim(4);
  place.here().settle(reply.claims[0], store::SetFree{}, FailureCount::keep, Cancelled{true});
  place.here().settle(reply.claims[1], store::SetFree{}, FailureCount::keep, Lost{});
  place.here().source.hand_back(reply.claims[2]);
  store::Settlement never{{reply.claims[3], place.here().rule, Crashed{"no such file"}, {}, {}, {}},
                          store::RestFor{true, 1s},
                          FailureCount::increment};
  never.end.process = NotStarted{.reason = "no such file"};
  place.here().source.settle(std::move(never));
  CHECK(place.here().settled());
  CHECK(place.server.command({"EXISTS", "work:breaker"}) == "0");
  CHECK(place.server.command({"HGET", "work:failures", "d"}) == "1");
}

TEST_CASE("a failure quarantines only after a success in the window") {
  Place place;
  ClaimReply reply = place.here().claim(3);
  place.fail(place.here(), reply.claims[0], true);
  CHECK(place.server.command({"EXISTS", "work:quarantined"}) == "0");
  CHECK(place.server.command({"GET", "work:lock:a"}) == "delay:backoff");
  const int left = std::stoi(place.server.command({"PTTL", "work:lock:a"}));
  CHECK(left > 20'000);
  CHECK(left <= 30'000);
  CHECK(place.server.command({"HGET", "work:failures", "a"}) == "1");
  CHECK(place.here().reported.quarantined.empty());
  place.succeed(place.here(), reply.claims[1]);
  place.fail(place.here(), reply.claims[2], true);
  CHECK(place.server.command({"HKEYS", "work:quarantined"}) == "c");
  CHECK(turn_until(place.loop, [&] { return place.here().reported.quarantined.size() == 1; }));
}

TEST_CASE("the breaker opens, releases quarantines of the window and resets its failure counts") {
  Place place;
  place.server.command({"HSET", "work:failures", "a", "1", "x", "1"});
  place.succeed(place.there(), place.there().claim(1).claims.at(0));  // a
  ClaimReply reply = place.here().claim(4);                           // b c d e
  REQUIRE(reply.claims.size() == 4);
  place.fail(place.here(), reply.claims[0], true);
  CHECK(place.server.command({"HKEYS", "work:quarantined"}) == "b");
  place.fail(place.here(), reply.claims[1], false);
  CHECK(place.field("since") == "(nil)");
  place.fail(place.here(), reply.claims[2], true, "HTTP 502");
  CHECK(place.field("since") != "(nil)");
  CHECK(place.field("failed") == "3 of 4");
  CHECK(place.field("reason") == "HTTP 502");
  CHECK(place.server.command({"EXISTS", "work:quarantined", "work:lock:b"}) == "0");
  CHECK(place.server.command({"HGETALL", "work:failures"}) == "x\n1");
  CHECK(place.here().reported.quarantined.size() == 1);  // of b, before it was known

  // The failure of a run that was active counts for nothing.
  place.fail(place.here(), reply.claims[3], true);
  CHECK(place.server.command({"EXISTS", "work:quarantined"}) == "0");
  CHECK(place.server.command({"HGETALL", "work:failures"}) == "x\n1");
  CHECK(std::stoi(place.server.command({"PTTL", "work:lock:e"})) <= 20);
}

TEST_CASE("a quarantine by an operator stays when the breaker opens") {
  Place place;
  const ClaimReply reply = place.here().claim(3);
  place.server.command({"HSET", "work:quarantined", "a", R"({"by":"jo"})"});
  for (std::size_t i = 0; i < 3; ++i) place.fail(place.here(), reply.claims[i], i == 2);
  CHECK(place.field("since") != "(nil)");
  CHECK(place.server.command({"GET", "work:lock:a"}) == "quarantine:" + reply.claims[0].run);
  CHECK(place.server.command({"HKEYS", "work:quarantined"}) == "a");
}

TEST_CASE("an open breaker lets one claim of the fleet probe, and any success closes it") {
  Place place;
  place.open();
  const std::int64_t in_20_s = std::stoll(place.server.command({"TIME"})) * 1000 + 20'000;
  place.server.command({"HSET", "work:breaker", "probe", std::to_string(in_20_s)});
  const ClaimReply refused = place.there().claim(4);
  CHECK(refused.end == ClaimEnd::breaker);
  CHECK(refused.claims.empty());
  CHECK(refused.detail == "3 of 3 runs failed: HTTP 503");
  REQUIRE(refused.next_free);
  CHECK(*refused.next_free <= 20s);
  CHECK(*refused.next_free > 10s);

  place.server.command({"HSET", "work:breaker", "probe", "0"});
  const Claim probe = place.probe(place.there());
  const ClaimReply waits = place.here().claim(4);
  CHECK(waits.claims.empty());
  CHECK(waits.end == ClaimEnd::breaker);
  REQUIRE(waits.next_free);
  CHECK(*waits.next_free > 50s);  // the lease of the probe

  place.here().source.listen(true);
  CHECK(query_until(place.loop, [&] {
    return place.server.command({"PUBSUB", "NUMSUB", "work:wake"}) == "work:wake\n1";
  }));
  const int wakes = place.here().reported.wakes;
  place.succeed(place.there(), probe);
  CHECK(place.server.command({"EXISTS", "work:breaker"}) == "0");
  CHECK(turn_until(place.loop, [&] { return place.here().reported.wakes > wakes; }));
  CHECK(place.here().claim(2).claims.size() == 2);
}

TEST_CASE("a failed probe doubles the pause up to backoff.max, and counts for nothing") {
  Place place;
  place.open();
  CHECK(place.field("pause") == "20");
  for (const char* pause : {"40", "60", "60"}) {
    const Claim probe = place.probe(place.there());
    place.fail(place.there(), probe, true, "HTTP 500");
    CHECK(place.field("pause") == pause);
    CHECK(place.server.command({"EXISTS", "work:failures", "work:quarantined"}) == "0");
  }
  CHECK(place.field("reason") == "HTTP 500");
  CHECK(place.field("failed") == "3 of 3");
}

TEST_CASE("the first pause is 1 s without backoff") {
  Place place;
  ListConfig rule = with_breaker(list_rule());
  rule.backoff.reset();
  place.here().use(rule);
  place.open();
  CHECK(place.field("pause") == "1000");
}

TEST_CASE("another claim probes when a probe is handed back or its lease has ended") {
  Place place;
  place.open();
  place.there().source.hand_back(place.probe(place.there()));
  CHECK(place.there().settled());
  const Claim second = place.probe(place.here());
  place.server.command({"DEL", "work:lock:" + second.item});
  CHECK(place.probe(place.there()).run != second.run);
}

TEST_CASE("a success of an item that an operator runs closes the breaker") {
  Place place;
  place.open();
  std::optional<ItemClaim> claimed;
  place.there().source.claim_item("e", [&](ItemClaim&& claim) { claimed = std::move(claim); });
  REQUIRE(turn_until(place.loop, [&] { return claimed.has_value(); }));
  REQUIRE(claimed->claim);
  place.succeed(place.there(), *claimed->claim);
  CHECK(place.server.command({"EXISTS", "work:breaker"}) == "0");
}

TEST_CASE("a settlement after the end of its lease changes no breaker") {
  Place place;
  place.open();
  const Claim probe = place.probe(place.there());
  place.server.command({"DEL", "work:lock:" + probe.item});
  place.succeed(place.there(), probe);
  CHECK(place.field("since") != "(nil)");
}

TEST_CASE("settlements that are sent together open and close a breaker in their order") {
  Place place;
  const ClaimReply reply = place.here().claim(5);
  REQUIRE(reply.claims.size() == 5);
  for (std::size_t i = 0; i < 4; ++i)
    place.here().settle(reply.claims[i], store::RestFor{true, 40s}, FailureCount::increment,
                        Failed{"x"});
  place.here().settle(reply.claims[4], store::SetFree{}, FailureCount::reset);
  CHECK(place.here().settled());
  CHECK(place.server.command({"EXISTS", "work:breaker", "work:failures"}) == "0");
  CHECK(std::stoi(place.server.command({"PTTL", "work:lock:d"})) <= 20);  // while it was open
}

TEST_CASE("a key of a wrong type instead of a breaker refuses claims") {
  Place place;
  place.server.command({"SET", "work:breaker", "x"});
  const ClaimReply reply = place.here().claim(1);
  CHECK(reply.end == ClaimEnd::refused);
  CHECK(reply.detail.find("WRONGTYPE") != std::string::npos);
}

// ---- jobs of feeds

namespace {

struct Jobs : JobFixture {
  Jobs() : JobFixture(with_breaker(job_rule())) {
    for (const char* id : {"a", "b", "c", "d", "e"}) put(id);
  }
  bool fail(const Claim& claim, store::thoonk::JobDisposition what) {
    return host.settle(claim, std::move(what), Failed{"HTTP 503"});
  }
  std::string field(const std::string& name) const { return command({"HGET", "f:breaker", name}); }
};

}  // namespace

TEST_CASE("an outage stalls no job, and delayed jobs return to their queue uncounted") {
  Jobs jobs;
  std::vector<Claim> claims = jobs.host.claim(4).claims;
  REQUIRE(claims.size() == 4);
  CHECK(jobs.host.settle(claims[0], store::thoonk::Finish{"{}"}));
  CHECK(jobs.fail(claims[1], store::thoonk::Stall{"2 consecutive failures", 10s}));
  CHECK(jobs.command({"SMEMBERS", "feed.stalled:f"}) == "b");
  CHECK(turn_until(jobs.loop, [&] { return jobs.host.reported.quarantined.size() == 1; }));
  CHECK(jobs.fail(claims[2], store::thoonk::Cancel{10s}));
  CHECK(jobs.field("since") == "(nil)");
  CHECK(jobs.fail(claims[3], store::thoonk::Stall{"2 consecutive failures", 10s}));
  CHECK(jobs.field("failed") == "3 of 4");
  CHECK(jobs.field("reason") == "HTTP 503");
  CHECK(jobs.command({"EXISTS", "feed.stalled:f", "feed.cancelled:f"}) == "0");
  CHECK(jobs.unclaimed());
  CHECK(jobs.command({"LLEN", "feed.ids:f"}) == "4");
  CHECK(jobs.command({"ZCARD", "feed.published:f"}) == "4");
  const std::string records = jobs.command({"LRANGE", "f:runs", "0", "0"});
  CHECK(records.find("stalled") == std::string::npos);

  // One job is the probe, and its success closes the breaker.
  ClaimReply reply;
  CHECK(query_until(jobs.loop, [&] {
    reply = jobs.host.claim(3);
    return !reply.claims.empty();
  }));
  CHECK(reply.end == ClaimEnd::breaker);
  REQUIRE(reply.claims.size() == 1);
  const ClaimReply waits = jobs.host.claim(3);
  CHECK(waits.claims.empty());
  CHECK(waits.end == ClaimEnd::breaker);
  CHECK(waits.detail == "3 of 4 runs failed: HTTP 503");
  CHECK(jobs.host.settle(reply.claims[0], store::thoonk::Finish{"{}"}));
  CHECK(jobs.command({"EXISTS", "f:breaker"}) == "0");
  CHECK(jobs.host.claim(3).claims.size() == 3);
}

TEST_CASE("a job is delayed instead of stalled if its list had no success") {
  Jobs jobs;
  const Claim claim = jobs.host.claim_one_job();
  CHECK(jobs.fail(claim, store::thoonk::Stall{"2 consecutive failures", 20ms}));
  CHECK(jobs.command({"EXISTS", "feed.stalled:f"}) == "0");
  CHECK(jobs.host.reported.quarantined.empty());
  CHECK(query_until(jobs.loop, [&] {
    return jobs.command({"HGET", "feed.cancelled:f", "a"}) == "1";
  }));
  CHECK(jobs.unclaimed());
}

// ---- schedules

TEST_CASE("an outage kills no job of a schedule") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), with_breaker(schedule_rule()));
  const auto command = [&](const std::vector<std::string>& words) { return server.command(words); };
  for (const char* job : {"a:A", "b:A", "c:A", "d:A"}) {
    command({"HSET", "bike-schedules", job, "STOP"});
    command({"HSET", "bike-statuses", job, "ENQ:1"});
    command({"LPUSH", "bike-work-A", job});
    command({"SADD", "bike-work-A-members", job});
  }
  const std::vector<Claim> claims = host.claim(4).claims;
  REQUIRE(claims.size() == 4);
  const auto fail = [&](const Claim& claim, store::JobEnd what) {
    store::JobSettlement end = host.settlement(claim, what, Failed{"HTTP 503"});
    end.failures = FailureCount::increment;
    host.queue->settle(std::move(end));
    CHECK(host.settled());
  };
  CHECK(host.settle(claims[0], store::ActOnSchedule{}));
  fail(claims[1], store::Die{100s});
  CHECK(command({"HGET", "bike-statuses", "b:A"}).starts_with("DIE"));
  fail(claims[2], store::BackOff{100s});
  fail(claims[3], store::Die{100s});
  CHECK(command({"HGET", "bike:breaker", "failed"}) == "3 of 4");
  CHECK(command({"HGET", "bike-statuses", "b:A"}).starts_with("TML"));
  CHECK(command({"HGET", "bike-statuses", "d:A"}).starts_with("TML"));
  CHECK(command({"EXISTS", "bike:failures"}) == "0");
  const auto now = std::stoll(command({"EVAL", "return redis.call('TIME')[1]", "0"}));
  CHECK(std::stoll(command({"ZSCORE", "bike-timeline", "b:A"})) <= now + 1);
  CHECK(std::stoll(command({"ZSCORE", "bike-timeline", "d:A"})) <= now + 1);

  for (const char* job : {"b:A", "d:A"}) command({"LPUSH", "bike-work-A", job});
  ClaimReply reply;
  CHECK(query_until(loop, [&] {
    reply = host.claim(2);
    return !reply.claims.empty();
  }));
  CHECK(reply.end == ClaimEnd::breaker);
  REQUIRE(reply.claims.size() == 1);
  CHECK(host.claim(2).claims.empty());
  CHECK(host.settle(reply.claims[0], store::ActOnSchedule{}));
  CHECK(command({"EXISTS", "bike:breaker"}) == "0");
  CHECK(host.claim(2).claims.size() == 1);
}

TEST_CASE("a job of a schedule is delayed instead of dead if its list had no success") {
  RedisServer server;
  loop::Loop loop;
  ScheduleHost host(loop, server.url(), with_breaker(schedule_rule()));
  server.command({"HSET", "bike-schedules", "a:A", "STOP"});
  server.command({"HSET", "bike-statuses", "a:A", "ENQ:1"});
  server.command({"LPUSH", "bike-work-A", "a:A"});
  CHECK(host.settle(host.claim_one_job(), store::Die{100s}, Failed{"x"}));
  CHECK(server.command({"HGET", "bike-statuses", "a:A"}).starts_with("TML"));
  const auto now = std::stoll(server.command({"EVAL", "return redis.call('TIME')[1]", "0"}));
  CHECK(std::stoll(server.command({"ZSCORE", "bike-timeline", "a:A"})) >= now + 90);
}

}  // namespace breaker_test
