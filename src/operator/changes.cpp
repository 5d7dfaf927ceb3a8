#include "operator/changes.hpp"

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "operator/lists.hpp"
#include "operator/query_context.hpp"
#include "operator/stored.hpp"
#include "store/fleet/keys.hpp"
#include "store/schedule/changes.hpp"
#include "store/thoonk/job_feed.hpp"

namespace w8y::verbs {

namespace {

constexpr unsigned conflict = 409;

/// A job of a schedule is parked by its schedule.
void stop_job(redis::SyncClient& client, const view::RunView& run) {
  const std::string& list = run.list;
  const Item& job = run.status.item.beginning;
  if (run.status.item.cut())
    throw Refusal(conflict,
                  "the job is too long to be named here; set it to STOP first, by: "
                  "w8yctl schedule -k " +
                      escape_text(list) + " set");
  store::ScheduleChanges(client, store::ScheduleKeys(list)).set({{job, "STOP", store::StopJob{}}});
}

/// A job of a feed is parked by being stalled, when its run ends.
void stall_job(redis::SyncClient& client, const view::RunView& run) {
  const std::string& feed = run.list;
  const Item& job = run.status.item.beginning;
  if (run.status.item.cut())
    throw Refusal(conflict,
                  "the id of the job is too long to be named here; cancel its run, and "
                  "stall it with: w8yctl job stall " +
                      escape_text(feed));
  if (!store::JobFeed({client, false}, feed)
           .stall_at_end(job, std::string(std::string_view(run.status.run))))
    throw Refusal(conflict, "the job " + escape_text(job) + " of the feed " + escape_text(feed) +
                                " is not claimed by that run any more");
}

}  // namespace

void pause_list(redis::SyncClient& client, const store::CircularKeys& keys, const Pause& pause,
                std::optional<Duration> period) {
  const std::string value = pause_value(pause);
  redis::Command set = {"SET", keys.paused, value};
  std::string life;
  if (period) {
    life = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*period).count());
    set.insert(set.end(), {"PX", life});
  }
  client.call(set);
  // So that hosts which wait for work see, and say, that they are paused.
  client.call({"PUBLISH", keys.wake, "paused"});
}

std::string pause_json(const std::string& list, const Pause& pause) {
  core::AsciiObject json;
  json.put("result", "paused");
  json.put_bytes("list", list);
  json.put_bytes("reason", pause.reason);
  json.put_bytes("by", pause.by);
  json.put("since_ms", pause.since.count());
  view::Time::write(json, "until_ms", pause.until, view::api);
  return json.take();
}

bool resume_list(redis::SyncClient& client, const store::CircularKeys& keys) {
  const bool was_paused = client.call({"DEL", keys.paused}).number > 0;
  if (was_paused) client.call({"PUBLISH", keys.wake, "resumed"});
  return was_paused;
}

void tell_change(redis::SyncClient& client, const std::string& fleet, const std::string& list) {
  const std::string channel = store::FleetKeys(fleet).changes;
  static_cast<void>(client.pipeline({{"PUBLISH", channel, list}}));
}

std::string resume_json(const std::string& list, bool was_paused) {
  core::AsciiObject json;
  json.put("result", was_paused ? "resumed" : "was not paused");
  json.put_bytes("list", list);
  return json.take();
}

ChangeResult result_of(store::QuarantinedAs how) {
  switch (how) {
    case store::QuarantinedAs::done:
      return {"quarantined"};
    case store::QuarantinedAs::was_already:
      return {"was quarantined already"};
    case store::QuarantinedAs::at_end_of_run:
      return {"is running; will be quarantined at the end of its run"};
    case store::QuarantinedAs::asked_already:
      return {"is running; its quarantine at the end of its run was asked for already"};
    case store::QuarantinedAs::not_listed:
      break;
  }
  return {"not in the list", false};
}

ChangeResult result_of(store::ReleasedAs how) {
  switch (how) {
    case store::ReleasedAs::released:
      return {"released"};
    case store::ReleasedAs::was_free:
      return {"was free"};
    case store::ReleasedAs::runs:
      return {"is running; nothing to release", false};
    case store::ReleasedAs::called_off:
      return {"is running; will not be quarantined at the end of its run"};
    case store::ReleasedAs::not_listed:
      break;
  }
  return {"not in the list", false};
}

void park(redis::SyncClient& client, const view::RunView& run, SourceKind kind,
          const store::CircularKeys& keys, const store::QuarantineNote& note) {
  if (kind == SourceKind::gearman)
    throw Refusal(409, escape_text(run.list) + " " + jobs_are_gearmands);
  if (kind == SourceKind::schedule) return stop_job(client, run);
  if (kind == SourceKind::job) return stall_job(client, run);
  store::ItemChanges changes(client, keys);
  const ShownItem& item = run.status.item;
  // w8yd tells the beginning of a long item, and the run's lock which it is.
  const bool done = item.cut() ? !changes.quarantine_long(run.status.run, note).empty()
                               : changes.quarantine({item.beginning}, note).front() !=
                                     store::QuarantinedAs::not_listed;
  if (!done)
    throw Refusal(conflict, "item " + item_text(item) + " is not in the list " +
                                escape_text(run.list) + " any more, and can't be quarantined");
}

}  // namespace w8y::verbs
