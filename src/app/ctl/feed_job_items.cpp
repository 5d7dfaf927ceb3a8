#include "app/ctl/feed_job_items.hpp"

#include <iostream>
#include <map>
#include <string_view>
#include <vector>

#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/look/feed_jobs.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"
#include "store/lock_value.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string detail_of(const look::FeedJob& job) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!job.run.empty()) {
    const store::LockValue value = store::read_lock_value(job.run);
    if (const auto* running = std::get_if<store::RunningLock>(&value))
      add("on " + escape_text(running->host) + ", pid " + escape(running->pid) + ", run " +
          escape(running->run));
  } else if (std::string_view(job.state) == "claimed") {
    add("by another program");
  }
  if (job.place > 0) add("place " + std::to_string(job.place));
  if (job.stalls) add("will be stalled at its end");
  if (job.failures > 0) add(std::to_string(job.failures) + " failed");
  return text;
}

}  // namespace

Json show_feed_jobs(const Options& options, Context& context, const std::string& prefix,
                    const std::string& state, std::size_t most) {
  const bool cluster = context.redis_options().url.kind == redis::Url::Kind::cluster;
  const std::vector<look::FeedJob> found = look::read_feed_jobs(context.redis(), cluster, prefix);
  std::map<std::string, std::size_t> states;
  std::vector<const look::FeedJob*> shown;
  for (const look::FeedJob& job : found) {
    ++states[job.state];
    if ((state.empty() || state == job.state) && (most == 0 || shown.size() < most))
      shown.push_back(&job);
  }
  Json json = Json::object();
  if (options.json) {
    ops::put_bytes(json, "list", prefix);
    json["length"] = found.size();
    json["items"] = Json::array();
    for (const look::FeedJob* job : shown) json["items"].push_back(look::to_json(*job));
    return json;
  }
  Table table({{"JOB", may_be_cut}, "STATE", "FOR", "UNTIL", {"WHY", may_be_cut}});
  for (const look::FeedJob* job : shown)
    table.add({item_text(ShownItem(job->id)), shaded(job->state),
               job->since ? since(*job->since) : std::string(),
               job->until ? time_text(*job->until) : std::string(), detail_of(*job)});
  if (!table.empty()) table.print(options.wide);
  std::cout << (found.empty() ? "no jobs" : counted_text(states, "job")) << '\n';
  return json;
}

}  // namespace w8y::app::ctl
