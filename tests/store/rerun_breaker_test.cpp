// Tests of reruns in lists with a breaker: a settlement frees a marked item instead of a delay.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/job_host.hpp"
#include "store/schedule_host.hpp"

using namespace w8y;
using namespace w8y::test;
using store::FailureCount;

namespace rerun_breaker_test {
namespace {

/// Opens after three failures among four runs; the first probe is after 20 ms.
ListConfig with_breaker(ListConfig rule) {
  rule.breaker = {75, 4};
  rule.max_failures = 2;
  rule.backoff = Backoff{20ms, 60ms, 2.0};
  rule.key_expiry = 60s;
  return rule;
}

/// Server with five items and a host.
struct Place {
  Place() { server.command({"RPUSH", "work:list", "a", "b", "c", "d", "e"}); }
  std::vector<Claim> claim_all(std::size_t wanted) {
    std::vector<Claim> claims = host.claim(wanted).claims;
    REQUIRE(claims.size() == wanted);
    return claims;
  }
  /// Marks a running item, as rerun.lua does.
  void mark(const Claim& claim) const {
    const std::string lock = server.command({"GET", "work:lock:" + claim.item});
    server.command({"HSET", "work:reruns", claim.item, lock});
  }
  void settle(const Claim& claim, const store::Rest& rest, bool succeeds = false) {
    host.settle(claim, rest, succeeds ? FailureCount::reset : FailureCount::increment,
                succeeds ? Outcome(Succeeded{}) : Outcome(Failed{"HTTP 503"}));
    CHECK(host.settled());
  }
  std::string field(const std::string& name) const {
    return server.command({"HGET", "work:breaker", name});
  }
  bool is_free(const Claim& claim) const {
    return server.command({"EXISTS", "work:lock:" + claim.item}) == "0";
  }
  std::string existing(const std::string& one, const std::string& other) const {
    return server.command({"EXISTS", one, other});
  }
  /// Claims until the claim is a probe.
  Claim probe() {
    std::vector<Claim> claims;
    CHECK(query_until(loop, [&] {
      claims = host.claim(1).claims;
      return !claims.empty();
    }));
    REQUIRE(claims.size() == 1);
    return claims.front();
  }

  RedisServer server;
  loop::Loop loop;
  Host host{loop, server.url(), with_breaker(list_rule())};
};

}  // namespace

TEST_CASE("a marked item is free after its run while a breaker is open, and when it opens") {
  Place place;
  const std::vector<Claim> claims = place.claim_all(4);
  for (const Claim& claim : claims) place.mark(claim);
  // Without a success in the window, the run would delay its item instead of the quarantine.
  place.settle(claims[0], store::Quarantine{30s});
  CHECK(place.server.command({"HGETALL", "work:failures"}) == claims[0].item + "\n1");
  place.settle(claims[1], store::RestFor{true, 40s});
  CHECK(place.field("since") == "(nil)");
  place.settle(claims[2], store::Quarantine{30s});
  CHECK(place.field("since") != "(nil)");
  place.settle(claims[3], store::RestFor{true, 40s});
  for (const Claim& claim : claims) CHECK(place.is_free(claim));
  CHECK(place.existing("work:reruns", "work:quarantined") == "0");
  CHECK(place.server.command({"EXISTS", "work:failures"}) == "0");
}

TEST_CASE("a quarantine wins over a mark until a breaker opens") {
  Place place;
  place.settle(place.claim_all(1)[0], store::SetFree{}, true);
  const std::vector<Claim> claims = place.claim_all(3);
  place.mark(claims[0]);
  place.settle(claims[0], store::Quarantine{30s});
  CHECK(place.server.command({"HKEYS", "work:quarantined"}) == claims[0].item);
  CHECK(place.server.command({"EXISTS", "work:reruns"}) == "0");
  place.settle(claims[1], store::RestFor{true, 40s});
  place.settle(claims[2], store::RestFor{true, 40s});
  CHECK(place.field("since") != "(nil)");
  CHECK(place.is_free(claims[0]));
  CHECK(place.server.command({"EXISTS", "work:quarantined"}) == "0");
}

TEST_CASE("a probe with a mark frees its item, with any outcome") {
  Place place;
  for (const Claim& claim : place.claim_all(3)) place.settle(claim, store::RestFor{true, 40s});
  REQUIRE(place.field("since") != "(nil)");
  const Claim failing = place.probe();
  place.mark(failing);
  place.settle(failing, store::RestFor{true, 40s});
  CHECK(place.field("pause") == "40");
  CHECK(place.field("lease") == "(nil)");
  CHECK(place.is_free(failing));
  CHECK(place.server.command({"EXISTS", "work:reruns"}) == "0");

  const Claim succeeding = place.probe();
  place.mark(succeeding);
  place.settle(succeeding, store::RestFor{false, 60s}, true);
  CHECK(place.existing("work:breaker", "work:reruns") == "0");
  CHECK(place.is_free(succeeding));
}

TEST_CASE("a claim that probes replaces the mark of another lock until its run is settled") {
  Place place;
  for (const Claim& claim : place.claim_all(3)) place.settle(claim, store::RestFor{true, 40s});
  for (const char* item : {"a", "b", "c", "d", "e"})
    place.server.command({"HSET", "work:reruns", item, "run:go:1:01ARYZ6S41TSV4RRFFQ69G5FAV"});
  const Claim probe = place.probe();
  CHECK(place.server.command({"HGET", "work:reruns", probe.item}) ==
        "claimed:" + place.server.command({"GET", "work:lock:" + probe.item}));
  CHECK(place.server.command({"HLEN", "work:reruns"}) == "5");
  place.settle(probe, store::RestFor{false, 60s}, true);
  CHECK(place.server.command({"HEXISTS", "work:reruns", probe.item}) == "0");
  CHECK(place.server.command({"HLEN", "work:reruns"}) == "4");
}

TEST_CASE("a job that was put again has its new payload when a breaker opens or closes") {
  JobFixture jobs(with_breaker(job_rule()));
  const auto put_again = [&](const Claim& claim) {
    // As job_put.lua does.
    const std::string score = jobs.command({"ZSCORE", "feed.claimed:f", claim.item});
    jobs.command({"HSET", "feed.items:f", claim.item, "new"});
    jobs.command({"HSET", "f:reruns", claim.item, "1000 new"});
    jobs.command({"HSET", "f:rerun-claims", claim.item, score + " 0"});
  };
  const auto payload = [&](const std::string& id) {
    return jobs.command({"HGET", "feed.items:f", id});
  };
  for (const char* id : {"a", "b", "c", "d"}) jobs.put(id, "old");
  const std::vector<Claim> claims = jobs.host.claim(4).claims;
  REQUIRE(claims.size() == 4);
  for (const Claim& claim : claims) put_again(claim);
  using store::thoonk::Cancel, store::thoonk::Stall;
  // Delayed by its claim instead of stalled, since the window has no success.
  CHECK(jobs.host.settle(claims[0], Stall{"2 consecutive failures", 10s}, Failed{"HTTP 503"}));
  CHECK(payload(claims[0].item) == "new");
  CHECK(jobs.host.settle(claims[1], Cancel{10s}, Failed{"HTTP 503"}));
  CHECK(jobs.host.settle(claims[2], Stall{"2 consecutive failures", 10s}, Failed{"HTTP 503"}));
  CHECK(jobs.command({"HGET", "f:breaker", "since"}) != "(nil)");
  CHECK(jobs.host.settle(claims[3], Cancel{10s}, Failed{"HTTP 503"}));
  for (const Claim& claim : claims) CHECK(payload(claim.item) == "new");
  CHECK(jobs.unclaimed());
  CHECK(jobs.command({"LLEN", "feed.ids:f"}) == "4");
  CHECK(jobs.command(
            {"EXISTS", "f:reruns", "f:rerun-claims", "feed.stalled:f", "feed.cancelled:f"}) == "0");

  ClaimReply reply;
  CHECK(query_until(jobs.loop, [&] {
    reply = jobs.host.claim(1);
    return !reply.claims.empty();
  }));
  REQUIRE(reply.claims.size() == 1);
  put_again(reply.claims[0]);
  CHECK(jobs.host.settle(reply.claims[0], store::thoonk::Finish{"{}"}));
  CHECK(jobs.command({"EXISTS", "f:breaker", "f:reruns"}) == "0");
  CHECK(jobs.command({"LLEN", "feed.ids:f"}) == "4");
}

}  // namespace rerun_breaker_test
