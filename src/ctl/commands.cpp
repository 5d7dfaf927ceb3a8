#include "ctl/commands.hpp"

#include <array>

namespace w8y::ctl {

namespace {

using verbs::FeedKind;

constexpr bool reads = false;
constexpr bool changes = true;

template <CommandPtr (*make)(FeedKind), FeedKind kind>
CommandPtr feed_command() {
  return make(kind);
}

}  // namespace

std::span<const CommandRow> all_commands() {
  static constexpr std::array all = std::to_array<CommandRow>({
      {"", "Inspect"},
      {"status", "Show the state of the fleet, problems first", make_status},
      {"top", "Monitor the fleet in the terminal", make_top},
      {"lists", "List all lists of the fleet, or show one", make_lists},
      {"fleet", "Show all hosts, with their configs and lists", make_fleet},
      {"fleet plan", "Show what another config would change on each host", make_fleet_plan},
      {"fleet forget", "Remove a host that has died from the fleet", make_fleet_forget, changes},
      {"why", "Explain why an item does not run, or what limits a list", make_why},
      {"items", "List items and their states", make_items},
      {"runs", "List finished runs, newest first", make_runs},
      {"errors", "Group failed runs by list and error message", make_errors},
      {"statistics", "Show runs, failures and durations over time", make_statistics},
      {"show", "Show a run: result and end of log output", make_show},
      {"logs", "Show or follow the output of runs", make_logs},
      {"watch", "Follow events of runs on all hosts", make_watch},
      {"help", "Show the help of a command", make_help},
      {"", "Items"},
      {"run", "Run an item now, ignoring its delay", make_run, changes},
      {"rerun", "Run items again, after their active runs", make_rerun, changes},
      {"add", "Add items to the end of a list", make_add, changes},
      {"remove", "Remove items and all their copies; active runs continue", make_remove, changes},
      {"quarantine", "Keep items from running until released", make_quarantine, changes},
      {"release", "End delay or quarantine of items and reset their failures", make_release,
       changes},
      {"cancel", "Cancel a run on any host", make_cancel},
      {"pause", "Stop starting runs of a list on all hosts", make_pause, changes},
      {"", "Hosts"},
      {"quiet", "Stop starting runs, on this host or others", make_quiet},
      {"resume", "End the pause of a list or the quiet state of hosts", make_resume},
      {"reload", "Reload the config, on this host or others", make_reload},
      {"drain", "Finish runs and exit, on this host or others", make_drain},
      {"check-executor", "Test an executor: --caps, then one item", make_check_executor},
      {"", "Schedules"},
      {"schedule", "Schedules, as in Redbike", nullptr, reads, declare_schedules},
      {"schedule set", "Set the schedule of a job, or of all in a file", make_schedule_set,
       changes},
      {"schedule unset", "Delete a job", make_schedule_unset, changes},
      {"schedule tell", "Show a job: status, schedule, next run", make_schedule_tell},
      {"schedule statuses", "Print the status of each job as CSV", make_schedule_statuses},
      {"schedule schedules", "Print the schedule of each job as CSV", make_schedule_schedules},
      {"schedule next", "Print when a job or a rule is due next", make_schedule_next},
      {"schedule list", "List jobs, schedules in words, next times", make_schedule_list},
      {"schedule control", "HALT dispatch and work on all hosts, or RESUME", make_schedule_control,
       changes},
      {"schedule dispatch", "Enqueue due jobs, without w8yd", make_schedule_dispatch, changes},
      {"", "Feeds and jobs"},
      {"feed", "Feeds of any kind; items with IDs", nullptr, reads, declare_feeds},
      {"feed create", "Create a feed of any kind", make_feed_create, changes},
      {"feed delete", "Delete a feed of any kind and its contents", make_feed_delete, changes},
      {"feed list", "List all feeds", make_feed_list},
      {"feed config", "Show or set the config of a feed", make_feed_config},
      {"feed publish", "Publish items, or edit one", make_feed_publish, changes},
      {"feed retract", "Remove items", feed_command<make_feed_retract, FeedKind::feed>, changes},
      {"feed ids", "List all IDs, oldest first", feed_command<make_feed_ids, FeedKind::feed>},
      {"feed get", "Print an item", feed_command<make_feed_get, FeedKind::feed>},
      {"feed all", "Print all IDs and items", feed_command<make_feed_all, FeedKind::feed>},
      {"feed watch", "Follow events of a feed", feed_command<make_feed_watch, FeedKind::feed>},
      {"sorted", "Sorted feeds: items in an order of your choice", nullptr, reads, declare_feeds},
      {"sorted append", "Add items to the end", make_sorted_append, changes},
      {"sorted prepend", "Add items to the beginning, the last one first", make_sorted_prepend,
       changes},
      {"sorted before", "Add items before another", make_sorted_before, changes},
      {"sorted after", "Add items after another, the last one first", make_sorted_after, changes},
      {"sorted edit", "Replace an item", make_sorted_edit, changes},
      {"sorted move", "Move an item", make_sorted_move, changes},
      {"sorted retract", "Remove items", feed_command<make_feed_retract, FeedKind::sorted_feed>,
       changes},
      {"sorted ids", "List all IDs in order", feed_command<make_feed_ids, FeedKind::sorted_feed>},
      {"sorted get", "Print an item", feed_command<make_feed_get, FeedKind::sorted_feed>},
      {"sorted all", "Print all IDs and items", feed_command<make_feed_all, FeedKind::sorted_feed>},
      {"sorted watch", "Follow events of a sorted feed",
       feed_command<make_feed_watch, FeedKind::sorted_feed>},
      {"queue", "Queues: reading an item removes it", nullptr, reads, declare_feeds},
      {"queue put", "Add items", feed_command<make_feed_put, FeedKind::queue>, changes},
      {"queue get", "Remove and print the next item", feed_command<make_feed_take, FeedKind::queue>,
       changes},
      {"queue ids", "List all IDs, newest first", feed_command<make_feed_ids, FeedKind::queue>},
      {"queue watch", "Follow events of a queue", feed_command<make_feed_watch, FeedKind::queue>},
      {"job", "Jobs: claimed, then finished or retried", nullptr, reads, declare_feeds},
      {"job put", "Add jobs", feed_command<make_feed_put, FeedKind::job>, changes},
      {"job get", "Claim the next job", feed_command<make_feed_take, FeedKind::job>, changes},
      {"job show", "Show a job: payload, state, attempt, result, runs", make_job_show},
      {"job wait", "Wait for the result of a job", make_job_wait},
      {"job finish", "Finish a claimed job", make_job_finish, changes},
      {"job cancel", "Return a claimed job to the queue and count a failure", make_job_cancel,
       changes},
      {"job fail", "Count a failure with a reason, then return or stall", make_job_fail, changes},
      {"job requeue", "Return a claimed job to the queue, uncounted", make_job_requeue, changes},
      {"job stall", "Keep a claimed job from running until retried", make_job_stall, changes},
      {"job retry", "Return a stalled job to the queue", make_job_retry, changes},
      {"job retract", "Delete jobs", make_job_retract, changes},
      {"job ids", "List all IDs, in any order", feed_command<make_feed_ids, FeedKind::job>},
      {"job failures", "Print how often a job was cancelled", make_job_failures},
      {"job maintain", "Recover jobs left behind by dead workers", make_job_maintain, changes},
      {"job watch", "Follow events of a feed of jobs",
       feed_command<make_feed_watch, FeedKind::job>},
  });
  return all;
}

}  // namespace w8y::ctl
