// Schedule "bike" on a server of its own, and the changes that a client of Redbike makes to it.
#pragma once

#include <string>
#include <vector>

#include "operator/schedule_changes.hpp"
#include "schedule_host.hpp"

namespace w8y::test {

using namespace w8y::store;
using namespace w8y::verbs;

struct Bike {
  explicit Bike(ListConfig rule = schedule_rule(), std::vector<std::string> codes = {"A"})
      : host(loop, server.url(), std::move(rule), std::move(codes)) {}

  std::string command(const std::vector<std::string>& words) const { return server.command(words); }
  std::string event(const std::string& job) const {
    return command({"HGET", "bike-statuses", job}).substr(0, 3);
  }
  UnixSeconds now() const { return std::stoll(command({"TIME"})); }
  UnixSeconds due(const std::string& job) const {
    return std::stoll(command({"ZSCORE", "bike-timeline", job}));
  }
  /// Enqueues a job as a client of Redbike does.
  void enter(const std::string& job, const std::string& schedule = "CONTINUE") {
    const std::string queue = "bike-work-" + std::string(code_of(job));
    command({"HSET", "bike-schedules", job, schedule});
    command({"LPUSH", queue, job});
    command({"SADD", queue + "-members", job});
    command({"HSET", "bike-statuses", job, "ENQ:1"});
  }
  /// Enqueues this job, claims it and settles its run.
  void run(const std::string& job, const std::string& schedule, JobEnd what = ActOnSchedule{}) {
    enter(job, schedule);
    const Claim claim = host.claim_one_job();
    CHECK(claim.item == job);
    CHECK(host.settle(claim, what));
  }
  std::vector<Item> jobs_of(const ClaimReply& reply) const {
    std::vector<Item> jobs;
    for (const Claim& claim : reply.claims) jobs.push_back(claim.item);
    return jobs;
  }

  RedisServer server;
  loop::Loop loop;
  ScheduleHost host;
};

inline ListConfig with_expiry(Duration expiry) {
  ListConfig rule = schedule_rule();
  rule.key_expiry = expiry;
  return rule;
}

inline constexpr const char* daily = "DTSTART:20131009T164510\nRRULE:FREQ=DAILY";

}  // namespace w8y::test
