// Idle lists in a cluster: reports of changes by each server, and hash slots that move.
#include <doctest/doctest.h>

#include "host.hpp"
#include "support/cluster.hpp"

using namespace w8y;
using namespace w8y::test;

namespace cluster_tracking_test {
namespace {

/// Empty lists on one connection, each on another server.
struct ClusterLists {
  ClusterLists() {
    for (std::size_t number = 0; hosts.size() < cluster.nodes.size(); ++number) {
      const std::string prefix = "{l" + std::to_string(number) + '}';
      if (cluster.owner_of(prefix) == hosts.size()) add(prefix);
    }
  }
  Host& add(const std::string& prefix) {
    prefixes.push_back(prefix);
    hosts.push_back(std::make_unique<Host>(loop, session, list_rule(prefix)));
    CHECK(hosts.back()->claim(1).end == ClaimEnd::empty);
    hosts.back()->source.listen(true);
    return *hosts.back();
  }
  /// Lets lists peek until all of them are tracked.
  bool track() {
    return turn_until(loop, [&] {
      bool all = true;
      for (const auto& host : hosts) all = peek(*host) && all;
      return all;
    });
  }
  /// Returns whether the list is tracked. Otherwise it peeks, unless a peek is in flight.
  bool peek(Host& host) {
    const std::size_t replies = host.reported.peeks.size();
    if (host.source.hears()) return true;
    if (peeks_[&host] > replies) return false;
    peeks_[&host] = replies + 1;
    host.source.look(store::Look::items);
    return false;
  }
  void push(std::size_t node, std::size_t list) {
    CHECK(cluster.nodes[node]->command({"RPUSH", prefixes[list] + ":list", "new"}) == "1");
  }
  /// Pushes an item, and returns whether this wakes the list.
  bool reports(std::size_t node, std::size_t list) {
    const int before = hosts[list]->reported.wakes;
    push(node, list);
    return turn_until(loop, [&] { return hosts[list]->reported.wakes == before + 1; });
  }

  Cluster cluster;
  loop::Loop loop;
  std::shared_ptr<store::RedisSession> session = open_link(loop, cluster.url());
  std::vector<std::string> prefixes;
  std::vector<std::unique_ptr<Host>> hosts;

 private:
  std::map<Host*, std::size_t> peeks_;
};

}  // namespace

TEST_CASE("each server of a cluster reports additions to its lists") {
  ClusterLists at;
  CHECK(at.track());
  for (std::size_t list = 0; list < 3; ++list) {
    CHECK(at.reports(list, list));
    CHECK_FALSE(at.hosts[list]->source.hears());
    // An addition may be missed when a hash slot moves, so the list is polled as often as others.
    CHECK(at.hosts[list]->source.may_miss());
  }
}

TEST_CASE("lists in a cluster are tracked again after a connection has ended") {
  ClusterLists at;
  for (const std::string type : {"pubsub", "normal"}) {
    CAPTURE(type);
    CHECK(at.track());
    for (const auto& node : at.cluster.nodes)
      node->command({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"});
    CHECK(turn_until(at.loop, [&] { return !at.hosts[1]->source.hears(); }));
  }
  CHECK(at.track());
  CHECK(at.reports(1, 1));
}

TEST_CASE("lists are peeked at again when a server of a cluster has lost their reports") {
  ClusterLists at;
  CHECK(at.track());
  at.hosts[1]->reported.changes = 0;
  at.cluster.nodes[1]->command({"CLIENT", "KILL", "TYPE", "pubsub"});
  at.push(1, 1);
  CHECK(turn_until(at.loop, [&] { return at.hosts[1]->reported.changes == 1; }));
}

TEST_CASE("lists are peeked at again when a hash slot of the cluster has moved") {
  ClusterLists at;
  at.add(at.prefixes[0] + "2");
  REQUIRE(at.cluster.owner_of(at.prefixes[3]) == 0);
  CHECK(at.track());
  for (const auto& host : at.hosts) host->reported.changes = 0;
  const std::string slot = at.cluster.slot_of(at.prefixes[0]);
  at.cluster.start_move(slot, 0, 1);
  at.cluster.end_move(slot, 0, 1);
  // A command for one of the lists shows that its hash slot has moved.
  CHECK(at.hosts[0]->claim(1).end == ClaimEnd::empty);
  CHECK(turn_until(at.loop, [&] { return at.hosts[3]->reported.changes == 1; }));
  CHECK(at.track());
  CHECK(at.reports(1, 3));
}

TEST_CASE("an empty list whose hash slot is being migrated is not worth a claim") {
  ClusterLists at;
  CHECK(at.track());
  CHECK(at.reports(0, 0));  // the list is not tracked any more
  CHECK(at.cluster.nodes[0]->command({"LPOP", at.prefixes[0] + ":list"}) == "new");
  at.cluster.start_move(at.cluster.slot_of(at.prefixes[0]), 0, 1);
  // Redis redirects each command for the missing list now.
  Host& host = *at.hosts[0];
  host.reported.peeks.clear();
  host.source.look(store::Look::items);
  REQUIRE(turn_until(at.loop, [&] { return host.reported.peeks.size() == 1; }));
  CHECK_FALSE(host.reported.peeks[0].worth_it);
  CHECK_FALSE(host.source.hears());
}

TEST_CASE("lists in a cluster that forbids CLIENT TRACKING are peeked at without it") {
  ClusterLists at;
  for (const auto& node : at.cluster.nodes)
    node->command({"ACL", "SETUSER", "default", "-client|tracking"});
  const auto other = open_link(at.loop, at.cluster.url());
  Host host(at.loop, other, list_rule(at.prefixes[2]));
  CHECK(host.claim(1).end == ClaimEnd::empty);
  host.source.listen(true);
  for (int i = 0; i < 20; ++i) {
    host.source.look(store::Look::items);
    REQUIRE(turn_until(at.loop, [&] { return host.reported.peeks.size() > std::size_t(i); }));
  }
  CHECK_FALSE(host.source.hears());
  CHECK_FALSE(host.reported.peeks.back().worth_it);
  at.push(2, 2);
  host.source.look(store::Look::items);
  CHECK(turn_until(at.loop, [&] { return host.reported.peeks.back().worth_it; }));
}

}  // namespace cluster_tracking_test
