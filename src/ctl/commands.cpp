#include "ctl/commands.hpp"

#include <array>

namespace w8y::ctl {

namespace {

using store::FeedKind;

template <CommandPtr (*make)(FeedKind), FeedKind kind>
CommandPtr feed_command() {
  return make(kind);
}

}  // namespace

std::span<const CommandRow> all_commands() {
  static constexpr std::array all = std::to_array<CommandRow>({
      {"status", "This host at a glance: what is wrong comes first", make_status},
      {"top", "This host, refreshed in place, in a terminal", make_top},
      {"lists", "All lists of this host, or one in detail", make_lists},
      {"fleet", "All hosts: their state, config and lists", make_fleet},
      {"fleet plan", "What another config would change on each host", make_fleet_plan},
      {"quiet", "Begin no new runs on this host, another, or all", make_quiet},
      {"resume", "End the pause of a list, or the quiet of hosts", make_resume},
      {"reload", "Make w8yd read its config again, here or elsewhere", make_reload},
      {"drain", "Make w8yd finish its runs and exit, here or elsewhere", make_drain},
      {"cancel", "End a run, on whichever host", make_cancel},
      {"check-executor", "Try an executor: --caps, then one item", make_check_executor},
      {"runs", "Finished runs, newest first", make_runs},
      {"show", "A run: its result, the end of its standard error", make_show},
      {"watch", "Events of runs as they happen, on all hosts", make_watch},
      {"logs", "What runs write, on whichever host", make_logs},
      {"why", "Why an item does not run, or a list not faster", make_why},
      {"items", "The items of a list: free, running, resting, quarantined", make_items},
      {"run", "Run an item now, whatever its rest", make_run},
      {"add", "Add items at the end of a list", make_add},
      {"remove", "Remove items from a list, all copies; what runs finishes", make_remove},
      {"quarantine", "Keep items from being run until they are released", make_quarantine},
      {"release", "End the rest or quarantine of items, and forget their failures", make_release},
      {"pause", "Begin no new runs of a list, on all hosts", make_pause},
      {"schedule", "Schedules, as Redbike has them", nullptr, declare_schedules},
      {"schedule set", "Set the schedule of a job, or of all in a file", make_schedule_set},
      {"schedule unset", "Forget a job", make_schedule_unset},
      {"schedule tell", "A job: status, schedule, next run", make_schedule_tell},
      {"schedule statuses", "The status of each job: CSV", make_schedule_statuses},
      {"schedule schedules", "The schedule of each job: CSV", make_schedule_schedules},
      {"schedule next", "When a job, or a rule, is due next", make_schedule_next},
      {"schedule list", "Jobs, schedules in words, next times", make_schedule_list},
      {"schedule control", "HALT dispatch and work on all hosts, or RESUME", make_schedule_control},
      {"schedule dispatch", "Enqueue what is due, without w8yd", make_schedule_dispatch},
      {"feed", "Feeds of any kind; and items with ids", nullptr, declare_feeds},
      {"feed create", "Make a feed, of any kind", make_feed_create},
      {"feed delete", "Delete a feed of any kind, with all that is in it", make_feed_delete},
      {"feed list", "The names of all feeds", make_feed_list},
      {"feed config", "What is set for a feed, and set it", make_feed_config},
      {"feed publish", "Publish items, or edit one", make_feed_publish},
      {"feed retract", "Take items out", feed_command<make_feed_retract, FeedKind::feed>},
      {"feed ids", "All ids, oldest first", feed_command<make_feed_ids, FeedKind::feed>},
      {"feed get", "An item", feed_command<make_feed_get, FeedKind::feed>},
      {"feed all", "All ids and items", feed_command<make_feed_all, FeedKind::feed>},
      {"feed watch", "What happens in it", feed_command<make_feed_watch, FeedKind::feed>},
      {"sorted", "Sorted feeds: items in an order of yours", nullptr, declare_feeds},
      {"sorted append", "Items at the end", make_sorted_append},
      {"sorted prepend", "Items at the beginning, the last one first", make_sorted_prepend},
      {"sorted before", "Items before another", make_sorted_before},
      {"sorted after", "Items behind another, the last one first", make_sorted_after},
      {"sorted edit", "Put another item in the place of one", make_sorted_edit},
      {"sorted move", "Move an item", make_sorted_move},
      {"sorted retract", "Take items out", feed_command<make_feed_retract, FeedKind::sorted_feed>},
      {"sorted ids", "All ids in order", feed_command<make_feed_ids, FeedKind::sorted_feed>},
      {"sorted get", "An item", feed_command<make_feed_get, FeedKind::sorted_feed>},
      {"sorted all", "All ids and items", feed_command<make_feed_all, FeedKind::sorted_feed>},
      {"sorted watch", "What happens in it", feed_command<make_feed_watch, FeedKind::sorted_feed>},
      {"queue", "Queues: who takes an item has it", nullptr, declare_feeds},
      {"queue put", "Put items in", feed_command<make_feed_put, FeedKind::queue>},
      {"queue get", "Take the next item out", feed_command<make_feed_take, FeedKind::queue>},
      {"queue ids", "All ids, newest first", feed_command<make_feed_ids, FeedKind::queue>},
      {"queue watch", "What happens in it", feed_command<make_feed_watch, FeedKind::queue>},
      {"job", "Jobs: claimed, then finished or tried again", nullptr, declare_feeds},
      {"job put", "Put jobs in", feed_command<make_feed_put, FeedKind::job>},
      {"job get", "Claim the next job", feed_command<make_feed_take, FeedKind::job>},
      {"job finish", "A claimed job is done", make_job_finish},
      {"job cancel", "A claimed job goes back to the queue, and has failed once", make_job_cancel},
      {"job stall", "A claimed job is not tried again until it is retried", make_job_stall},
      {"job retry", "A stalled job goes back to the queue", make_job_retry},
      {"job retract", "Forget jobs, wherever they are", make_job_retract},
      {"job ids", "All ids, in any order", feed_command<make_feed_ids, FeedKind::job>},
      {"job failures", "How often a job was cancelled", make_job_failures},
      {"job maintain", "Mend what workers that died have left", make_job_maintain},
      {"job watch", "What happens to jobs", feed_command<make_feed_watch, FeedKind::job>},
  });
  return all;
}

}  // namespace w8y::ctl
