#include "app/ctl/commands.hpp"

#include <array>

namespace w8y::app::ctl {

std::span<const CommandRow> all_commands() {
  static constexpr std::array all = std::to_array<CommandRow>({
      {"status", "This host at a glance: what is wrong comes first", make_status},
      {"lists", "All lists of this host, or one in detail", make_lists},
      {"quiet", "Begin no new runs on this host", make_quiet},
      {"resume", "End the pause of a list, or the quiet of this host", make_resume},
      {"reload", "Make w8yd of this host read its config again", make_reload},
      {"drain", "Make w8yd of this host finish its runs and exit", make_drain},
      {"cancel", "End a run of this host", make_cancel},
      {"check-executor", "Try an executor: --caps, then one item", make_check_executor},
      {"runs", "Finished runs, newest first", make_runs},
      {"show", "A run: its result, the end of its standard error", make_show},
      {"watch", "Events of runs as they happen, on all hosts", make_watch},
      {"items", "The items of a list: free, running, resting, quarantined", make_items},
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
      {"top", "", nullptr},
      {"fleet", "", nullptr},
      {"run", "", nullptr},
      {"why", "", nullptr},
      {"logs", "", nullptr},
      {"feed", "", nullptr},
      {"sorted", "", nullptr},
      {"queue", "", nullptr},
      {"job", "", nullptr},
  });
  return all;
}

}  // namespace w8y::app::ctl
