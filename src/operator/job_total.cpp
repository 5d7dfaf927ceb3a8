#include "operator/job_total.hpp"

#include <algorithm>
#include <string>

#include "store/scripts.hpp"

namespace w8y::verbs {

namespace {

/// Maximum number of jobs to examine, and number of jobs per call, which needs about 1 ms of Redis.
constexpr std::size_t max_examined = 20'000;
constexpr const char* jobs_at_once = "1000";

std::size_t number(const redis::ReplyCopy& reply) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, reply.number));
}

}  // namespace

std::size_t number_of_jobs(redis::SyncClient& client, const ScheduleOfList& schedule) {
  const std::string& statuses = schedule.keys.statuses;
  const std::size_t all = number(client.call({"HLEN", statuses}));
  if (schedule.shared.others.empty() || all == 0) return all;
  std::string cursor = "0";
  std::size_t examined = 0;
  std::size_t own = 0;
  do {
    redis::Command args{cursor, jobs_at_once};
    for (const SharedKeyPrefix::Queue& queue : schedule.shared.others)
      args.emplace_back(queue.code);
    const redis::ReplyCopy reply = client.run(store::scripts::schedule_count, {statuses}, args);
    if (reply.elements.size() < 5) return all;
    cursor = reply.elements[0].text;
    examined += number(reply.elements[1]);
    own += number(reply.elements[4]);
    if (cursor == "0") return own;
  } while (examined < max_examined);
  return own * all / examined;
}

}  // namespace w8y::verbs
