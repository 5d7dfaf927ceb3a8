// Host that only sends heartbeats, for tests of the fleet.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "store/fleet/membership.hpp"
#include "support/client_options.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

struct BeatingHost final : private store::FleetMembership::Handler {
  BeatingHost(loop::Loop& shared, const std::string& url, const std::string& name,
              const std::string& fleet = "fleet", const std::string& random = "00000000")
      : loop(shared),
        started(shared.now() - 1min),
        member(shared, options_for(url), fleet, name + "-" + random, *this) {
    shown.host = name;
    shown.state = "running";
    shown.config_hash = "abc";
    shown.generation = 1;
  }
  HostHeartbeat heartbeat(const RedisClock& time) override {
    HostHeartbeat now = shown;
    now.started = time.at(started);
    now.applied = time.at(loop.now());
    return now;
  }
  std::vector<ListReportTracker::Change> changes(std::size_t most, bool lively) override {
    return told.drain(most, lively);
  }
  std::vector<Minute> minutes(const RedisClock&) override { return std::exchange(counted, {}); }
  std::vector<MinuteStats> stats() override { return std::exchange(counts, {}); }
  WallTime wall() const override { return loop.clock().wall(); }
  void republish() override {
    told.forget();
    for (const auto& list : lists) told.record(list);
  }
  void on_counted(std::size_t hosts) override {
    seen_hosts = hosts;
    seen_most = std::max(seen_most, hosts);
  }
  void on_heartbeat_sent(const std::string& why) override {
    ++heartbeats;
    refused = why;
  }
  void on_stats_sent(const std::string& why) override { stats_replies.push_back(why); }
  void show(std::vector<ListStatus> all) {
    lists = std::move(all);
    told.begin();
    for (const auto& list : lists) told.record(list);
    told.end();
    soon();
  }
  void soon() {
    seen = heartbeats;
    member.heartbeat_soon();
  }
  /// Waits for the next heartbeat after the last call of this function or of soon().
  bool has_beaten() {
    const bool beaten = turn_until(loop, [&] { return heartbeats > seen; });
    seen = heartbeats;
    return beaten;
  }

  loop::Loop& loop;
  const Instant started;  ///< earlier than all heartbeats of other hosts
  HostHeartbeat shown;
  std::vector<ListStatus> lists;
  ListReportTracker told;
  std::vector<Minute> counted;
  std::vector<MinuteStats> counts;
  int heartbeats = 0;
  std::size_t seen_hosts = 0;
  std::size_t seen_most = 0;
  int seen = 0;
  std::string refused;
  std::vector<std::string> stats_replies;  ///< of on_stats_sent()
  store::FleetMembership member;
};

}  // namespace w8y::test
