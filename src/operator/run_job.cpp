#include "operator/run_job.hpp"

#include "core/escape.hpp"
#include "core/job_code.hpp"
#include "operator/job_feeds.hpp"
#include "operator/key_names.hpp"
#include "operator/schedule_changes.hpp"

namespace w8y::verbs {

namespace {

using Result = RunJobResult::Result;

std::string paused_text(const std::string& list) {
  return "the list " + escape_text(list) + " is paused; resume it with: w8yctl resume " +
         escape_text(list);
}

}  // namespace

RunJobResult run_schedule_job(const QueryContext& query, const std::string& list,
                              const std::string& job) {
  const std::string name = escape_text(job);
  const ScheduleOfList of = schedule_of(query, list);
  const std::string way = "w8yctl schedule -k " + escape_text(key_names(query, list).prefix);
  if (const auto* other = of.shared.find(code_of(job)))
    return {Result::not_found, "the job " + name + " belongs to the list " +
                                   escape_text(other->list) + "; to run it: w8yctl run " +
                                   escape_text(other->list) + " " + name};
  switch (ScheduleChanges(query.redis, of.keys, query.by).run_now(job)) {
    case RunNow::entered:
      return {Result::done, name + " is in the queue " + escape_text(code_of(job)) + " now"};
    case RunNow::running:
      return {Result::refused, name + " runs already"};
    case RunNow::queued:
      return {Result::refused, name + " is in the queue " + escape_text(code_of(job)) + " already"};
    case RunNow::halted:
      return {Result::refused,
              "the schedule is halted; resume it with: " + way + " control RESUME"};
    case RunNow::paused:
      return {Result::refused, paused_text(list)};
    case RunNow::bad:
      return {Result::refused,
              "the code of " + name + " is invalid: its keys would be keys of another code"};
    case RunNow::unknown:
      break;
  }
  return {Result::not_found, "the schedule " + escape_text(list) + " has no job " + name +
                                 "; to set one: " + way + " set"};
}

RunJobResult run_feed_job(const FeedServer& at, const std::string& feed, const std::string& id) {
  const std::string name = escape_text(id);
  const store::FeedKeys keys(feed);
  if (at.client.call({"EXISTS", keys.paused}).number > 0)
    return {Result::refused, paused_text(feed)};
  JobFeed jobs(at, feed);
  if (jobs.change(JobChange::next, {id}).front().done)
    return {Result::done, name + " is the next to be claimed"};
  switch (jobs.find(id)) {
    case JobFeed::Whereabouts::stalled:
      return {Result::refused, name + " is stalled; to return it to the queue: w8yctl job retry " +
                                   escape_text(feed) + " " + name};
    case JobFeed::Whereabouts::there:
      return {Result::refused, name + " is claimed already; to see its holder: w8yctl why " +
                                   escape_text(feed) + " " + name};
    case JobFeed::Whereabouts::gone:
      break;
  }
  return {Result::not_found, "the feed " + escape_text(feed) + " has no job " + name +
                                 ": it is finished, was retracted, or never existed"};
}

}  // namespace w8y::verbs
