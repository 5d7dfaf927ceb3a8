// Schedule queue on a real server, and a handler that records its calls.
#pragma once

#include "core/schedule_settings.hpp"
#include "source/schedule/decision.hpp"
#include "store/host.hpp"
#include "store/schedule/redis_queue.hpp"

namespace w8y::test {

class ScheduleTold : public store::ScheduleQueueHandler {
 public:
  void on_claimed(ClaimReply&& reply) override { claim_replies.push_back(std::move(reply)); }
  void on_dispatched(store::DispatchAnswer&& answer) override {
    dispatches.push_back(std::move(answer));
  }
  void on_recovered(std::size_t put_back, std::optional<Duration> next) override {
    recovered.push_back(put_back);
    next_recovery = next;
  }
  void on_news(store::ScheduleNews what) override { news.push_back(what); }
  void on_back() override { ++backs; }
  void on_lease_lost(const RunId& run) override { lost.push_back(run); }
  void on_lease_back(const RunId& run) override { back.push_back(run); }
  void on_lease_expiring(const RunId& run) override { expiring.push_back(run); }
  void on_given_up(const RunId& run, const std::string&) override { given_up.push_back(run); }
  void on_quarantined(const DisplayItem& job, const std::string& why) override {
    quarantined.push_back(job.beginning + ": " + why);
  }
  void on_unwritten(const std::string& why) override {
    if (unwritten.empty() || unwritten.back() != why) unwritten.push_back(why);
  }
  void on_all_settled() override { ++all_settled; }

  std::vector<ClaimReply> claim_replies;
  std::vector<store::DispatchAnswer> dispatches;
  std::vector<std::size_t> recovered;
  std::optional<Duration> next_recovery;
  std::vector<store::ScheduleNews> news;
  std::vector<RunId> lost;
  std::vector<RunId> back;
  std::vector<RunId> expiring;
  std::vector<RunId> given_up;
  std::vector<std::string> quarantined;
  std::vector<std::string> unwritten;  ///< without consecutive duplicates
  int backs = 0;
  int all_settled = 0;
};

/// Runs the loop until fact() returns true. Polls, because only a query of Redis shows the fact.
template <typename Fact>
bool query_until(loop::Loop& loop, Fact fact) {
  for (int i = 0; i < 2000; ++i) {
    if (fact()) return true;
    turn_for(loop, 5ms);
  }
  return false;
}

inline ListConfig schedule_rule() {
  ListConfig rule = list_rule("bike");
  rule.key_expiry = 60s;
  return rule;
}

/// Host with one list of the kind schedule.
struct ScheduleHost {
  ScheduleHost(loop::Loop& shared, const std::string& url, ListConfig settings = schedule_rule(),
               std::vector<std::string> codes = {"A"}, const std::string& name = "here",
               Duration command_timeout = 5s)
      : loop(shared),
        session(open_link(shared, url, name, command_timeout)),
        queue(std::make_unique<store::RedisScheduleQueue>(session, source::decide_next, reported)) {
    use(std::move(settings), std::move(codes));
  }
  void use(ListConfig settings, std::vector<std::string> codes, CatchUp catch_up = CatchUp::one) {
    std::optional<std::string> key_prefix;
    if (settings.kind() == SourceKind::schedule) key_prefix = settings.schedule().key_prefix;
    settings.source =
        ScheduleSettings{std::move(codes), true, OnFailure::die, {}, catch_up, key_prefix};
    rule = std::make_shared<const ListConfig>(std::move(settings));
    queue->use(rule);
  }
  ClaimReply claim(std::size_t wanted = 1) {
    const std::size_t before = reported.claim_replies.size();
    queue->claim(wanted);
    turn_until(loop, [&] { return reported.claim_replies.size() > before; });
    return reported.claim_replies.empty() ? ClaimReply{} : reported.claim_replies.back();
  }
  /// Claims the only job in the queues.
  Claim claim_one_job() {
    const ClaimReply reply = claim(1);
    return reply.claims.empty() ? Claim{} : reply.claims.front();
  }
  std::size_t recover() {
    const std::size_t before = reported.recovered.size();
    queue->recover();
    turn_until(loop, [&] { return reported.recovered.size() > before; });
    return reported.recovered.empty() ? 0 : reported.recovered.back();
  }
  store::JobSettlement settlement(const Claim& claim, store::JobEnd what,
                                  Outcome outcome = Succeeded{}) const {
    store::JobSettlement end{{claim, rule, std::move(outcome), {}, WallTime(1000), WallTime(2000)},
                             what};
    end.end.process = Exited{0};
    return end;
  }
  bool settle(const Claim& claim, store::JobEnd what, Outcome outcome = Succeeded{}) {
    queue->settle(settlement(claim, what, std::move(outcome)));
    return settled();
  }
  bool settled() {
    return turn_until(loop, [&] { return queue->unsettled() == 0; });
  }

  loop::Loop& loop;
  ScheduleTold reported;
  std::shared_ptr<store::RedisSession> session;
  ListConfigPtr rule;
  std::unique_ptr<store::RedisScheduleQueue> queue;
};

}  // namespace w8y::test
