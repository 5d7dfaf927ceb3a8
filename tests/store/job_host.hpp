// Jobs of a feed on a real server, and hosts that claim them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/job_settings.hpp"
#include "store/host.hpp"
#include "store/recovery.hpp"
#include "store/thoonk/redis_job_queue.hpp"

namespace w8y::test {

class JobsTold : public store::thoonk::JobQueueHandler {
 public:
  void on_claimed(ClaimReply&& reply) override { claim_replies.push_back(std::move(reply)); }
  void on_news() override { ++news; }
  void on_back() override { ++backs; }
  void on_lease_lost(const RunId& run) override { lost.push_back(run); }
  void on_lease_back(const RunId& run) override { back.push_back(run); }
  void on_lease_expiring(const RunId&) override {}
  void on_quarantined(const DisplayItem& job, const std::string& why) override {
    quarantined.push_back(job.beginning + ": " + why);
  }
  void on_unwritten(const std::string& why) override {
    if (unwritten.empty() || unwritten.back() != why) unwritten.push_back(why);
  }
  void on_all_settled() override { ++all_settled; }

  std::vector<std::string> unwritten;  ///< without consecutive duplicates
  std::vector<ClaimReply> claim_replies;
  std::vector<RunId> lost;
  std::vector<RunId> back;
  std::vector<std::string> quarantined;
  int news = 0;
  int backs = 0;
  int all_settled = 0;
};

inline ListConfig job_rule(Duration expiry = 60s) {
  ListConfig rule = list_rule("f");
  rule.source = JobSettings{};
  rule.key_expiry = expiry;
  return rule;
}

struct JobHost {
  JobHost(loop::Loop& shared, const std::string& url, ListConfig settings,
          const std::string& name = "here", Duration command_timeout = timeout)
      : loop(shared),
        session(open_link(shared, url, name, command_timeout)),
        queue(std::make_unique<store::thoonk::RedisJobQueue>(session, reported)),
        rule(std::make_shared<const ListConfig>(std::move(settings))) {
    queue->use(rule);
  }
  ClaimReply claim(std::size_t wanted = 1) {
    const std::size_t before = reported.claim_replies.size();
    queue->claim(wanted);
    turn_until(loop, [&] { return reported.claim_replies.size() > before; });
    return reported.claim_replies.empty() ? ClaimReply{} : reported.claim_replies.back();
  }
  Claim claim_one_job() {
    const ClaimReply reply = claim(1);
    return reply.claims.empty() ? Claim{} : reply.claims.front();
  }
  void end(const Claim& claim, store::thoonk::JobDisposition what, Outcome outcome = Succeeded{}) {
    store::thoonk::JobSettlement settlement{
        {claim, rule, std::move(outcome), {}, WallTime(1000), WallTime(2000)}, std::move(what)};
    settlement.end.process = Exited{0};
    queue->settle(std::move(settlement));
  }
  bool settled() {
    return turn_until(loop, [&] { return queue->unsettled() == 0; });
  }
  bool settle(const Claim& claim, store::thoonk::JobDisposition what,
              Outcome outcome = Succeeded{}) {
    end(claim, std::move(what), std::move(outcome));
    return settled();
  }
  struct Recovered {
    std::size_t count = 0;
    std::optional<Duration> next;
  };
  Recovered recover() {
    store::Recovery recovery(*session);
    std::optional<Recovered> done;
    recovery.look(store::thoonk::recover_call(store::FeedKeys(rule->prefix), *rule),
                  [&](std::size_t count, std::optional<Duration> next) {
                    done = Recovered{count, next};
                  });
    turn_until(loop, [&] { return done.has_value(); });
    return done.value_or(Recovered{});
  }

  loop::Loop& loop;
  JobsTold reported;
  std::shared_ptr<store::RedisSession> session;
  std::unique_ptr<store::thoonk::RedisJobQueue> queue;
  ListConfigPtr rule;
};

struct JobFixture {
  explicit JobFixture(ListConfig rule = job_rule()) : host(loop, server.url(), std::move(rule)) {}
  std::string command(const std::vector<std::string>& words) const { return server.command(words); }
  /// Puts a job as a client that follows Thoonk's contract does.
  void put(const std::string& id, const std::string& payload = "p", bool high = false) const {
    command({high ? "RPUSH" : "LPUSH", "feed.ids:f", id});
    command({"HSET", "feed.items:f", id, payload});
    command({"ZADD", "feed.published:f", "1732147200000", id});
  }
  std::vector<Item> ids_of(const ClaimReply& reply) const {
    std::vector<Item> ids;
    for (const Claim& claim : reply.claims) ids.push_back(claim.item);
    return ids;
  }
  std::string queue() const { return command({"LRANGE", "feed.ids:f", "0", "-1"}); }
  /// Returns whether there are neither claims nor leases.
  bool unclaimed() const {
    return command({"ZCARD", "feed.claimed:f"}) == "0" && command({"HLEN", "f:claims"}) == "0" &&
           command({"KEYS", "feed.lease:f:*"}).empty();
  }

  RedisServer server;
  loop::Loop loop;
  JobHost host;
};

}  // namespace w8y::test
