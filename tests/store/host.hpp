// Circular list on a real server, and a handler that records its calls.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redis/url.hpp"
#include "store/circular/redis_list.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

class Told : public store::CircularListHandler {
 public:
  void on_claimed(ClaimReply&& reply) override {
    replies.push_back(reply);
    for (Claim& claim : reply.claims) claims.push_back(std::move(claim));
  }
  void on_looked(const store::LookReply& reply) override { peeks.push_back(reply); }
  void on_lease_lost(const RunId& run) override { lost.push_back(run); }
  void on_lease_back(const RunId& run) override { back.push_back(run); }
  void on_lease_expiring(const RunId& run) override { expiring.push_back(run); }
  void on_wake() override { ++wakes; }
  void on_located() override { ++located; }
  void on_turn() override { ++turns; }
  void on_back() override { ++backs; }
  void on_changed() override { ++changes; }
  void on_given_up(const RunId& run, const std::string&) override { given_up.push_back(run); }
  void on_all_settled() override { ++all_settled; }
  void on_quarantined(const DisplayItem& item, const std::string& why) override {
    quarantined.push_back(item.beginning + ": " + why);
  }
  void on_unwritten(const std::string& why) override {
    if (unwritten.empty() || unwritten.back() != why) unwritten.push_back(why);
  }

  std::vector<ClaimReply> replies;
  std::vector<store::LookReply> peeks;
  int changes = 0;
  std::vector<Claim> claims;
  std::vector<RunId> lost;
  std::vector<RunId> back;
  std::vector<RunId> expiring;
  std::vector<RunId> given_up;
  std::vector<std::string> quarantined;
  std::vector<std::string> unwritten;  ///< without consecutive duplicates
  int wakes = 0;
  int located = 0;
  int turns = 0;
  int backs = 0;
  int all_settled = 0;
};

inline std::shared_ptr<store::RedisSession> open_link(loop::Loop& loop, const std::string& url,
                                                      const std::string& host = "here",
                                                      Duration command_timeout = timeout) {
  redis::ClientOptions options;
  options.command_timeout = command_timeout;
  options.url = redis::parse_url(url);
  static std::uint64_t seed = 0;
  return std::make_shared<store::RedisSession>(loop, options,
                                               store::RedisSession::Holder{host, 77, ++seed});
}

/// Host with one source. Hosts share the event loop.
struct Host {
  Host(loop::Loop& shared, const std::string& url, ListConfig settings,
       const std::string& name = "here")
      : Host(shared, open_link(shared, url, name), std::move(settings)) {}
  Host(loop::Loop& shared, std::shared_ptr<store::RedisSession> over, ListConfig settings)
      : loop(shared), session(std::move(over)), source(session, reported) {
    use(std::move(settings));
  }
  void use(ListConfig settings) {
    rule = std::make_shared<const ListConfig>(std::move(settings));
    source.use(rule);
  }
  /// Claims up to `wanted` items and waits for the reply.
  ClaimReply claim(std::size_t wanted, store::Scan scan = store::Scan::whole,
                   store::Manner manner = store::Manner::in_turn) {
    const std::size_t before = reported.replies.size();
    source.claim(wanted, scan, manner);
    turn_until(loop, [&] { return reported.replies.size() > before; });
    return reported.replies.empty() ? ClaimReply{} : reported.replies.back();
  }
  void settle(const Claim& claim, store::Rest rest = store::SetFree{},
              store::FailureCount failures = store::FailureCount::keep,
              Outcome outcome = Succeeded{}) {
    store::Settlement settlement{
        {claim, rule, outcome, {}, WallTime(1000), WallTime(2000)}, rest, failures};
    settlement.end.process = Exited{0};
    settlement.end.complete = Complete{R"({"data":1})", {}, {}, {}, {}, {}};
    settlement.end.stderr_tail = "tail";
    source.settle(std::move(settlement));
  }
  bool settled() {
    return turn_until(loop, [&] { return source.unsettled() == 0; });
  }

  loop::Loop& loop;
  Told reported;
  std::shared_ptr<store::RedisSession> session;
  ListConfigPtr rule;
  store::RedisCircularList source;
};

/// Returns a list whose failed runs are in the same history as the others.
inline ListConfig list_rule(const std::string& prefix = "work") {
  ListConfig rule;
  rule.prefix = prefix;
  rule.command = {"true"};
  rule.failed_history.runs = 0;
  return rule;
}

inline std::vector<Item> items_of(const ClaimReply& reply) {
  std::vector<Item> items;
  for (const auto& claim : reply.claims) items.push_back(claim.item);
  return items;
}

/// Returns the URL of a server's user "plain", whose ACL forbids some commands.
inline std::string url_of_plain(const RedisServer& server) {
  std::string url = server.url();
  return url.insert(std::string("unix://").size(), "plain:x@");
}

/// Returns the number of locks of the list "work".
inline std::size_t locks(const RedisServer& server) {
  return static_cast<std::size_t>(
      std::stoul(server.command({"EVAL", "return #redis.call('KEYS', 'work:lock:*')", "0"})));
}

}  // namespace w8y::test
