#include "app/ctl/job_items.hpp"

#include <iostream>
#include <string_view>

#include "app/ctl/schedule_common.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/look/job_states.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string detail_of(const look::JobState& job) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const std::string_view state = job.state;
  if (!job.host.empty()) {
    add("on " + escape_text(job.host) + ", pid " + escape(job.pid) + ", run " + escape(job.run));
  } else if (state == "running") {
    add("by another program: " + escape_text(job.tag));
  } else if (state == "queued") {
    add("queue " + escape_text(job.queue) +
        (job.place > 0 ? ", place " + std::to_string(job.place) : std::string()));
  } else if (!job.why.empty()) {
    add(escape(job.why));
  }
  if (job.failures > 0) add(std::to_string(job.failures) + " failed in a row");
  return text;
}

std::string summary_of(const look::Jobs& found) {
  if (found.whole && found.states.empty()) return "no jobs";
  if (!found.whole)
    return "the first " + std::to_string(found.jobs.size()) + "; the schedule has " +
           std::to_string(found.known) + (found.known == 1 ? " job" : " jobs");
  return counted_text(found.states, "job");
}

}  // namespace

Json show_jobs(const Options& options, Context& context, const std::string& prefix,
               const std::string& state, std::size_t most) {
  const store::ScheduleKeys keys = schedule_keys(prefix, context);
  std::vector<std::string> queues;
  if (const auto& lists = context.lists(); lists && lists->contains(prefix))
    queues = lists->at(prefix).queues;
  const look::Jobs found = look::read_jobs(context.redis(), keys, queues, state, most);
  Json json = Json::object();
  if (options.json) {
    ops::put_bytes(json, "list", prefix);
    if (!found.whole) json["length"] = found.known;
    json["items"] = Json::array();
    for (const auto& job : found.jobs) json["items"].push_back(look::to_json(job));
    return json;
  }
  Table table(
      {{"JOB", may_be_cut}, "STATE", "FOR", "LEASE", "NEXT", "STATUS", {"WHY", may_be_cut}});
  for (const auto& job : found.jobs)
    table.add({item_text(ShownItem(job.job)), shaded(job.state),
               job.since ? since(*job.since) : std::string(),
               job.left ? rough_duration(*job.left) + " left" : std::string(),
               job.due ? time_text(WallTime(*job.due * 1000)) : std::string(),
               job.status ? escape(job.status->substr(0, job.status->find(':'))) : std::string(),
               detail_of(job)});
  if (!table.empty()) table.print(options.wide);
  std::cout << summary_of(found) << '\n';
  return json;
}

}  // namespace w8y::app::ctl
