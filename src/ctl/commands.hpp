// Subcommands of `w8yctl`.
#pragma once

#include <span>

#include "ctl/command.hpp"

namespace w8y::ctl {

struct CommandRow {
  const char* name;                    ///< "schedule set": subcommand "set" of the group "schedule"
  const char* what;                    ///< help text, one line; of a heading: its text
  const CommandMaker* make = nullptr;  ///< nullptr: a group, or not in this version
  bool changes = false;  ///< changes Redis itself: refused while hosts use another format
  /// Set for a group, whose rows follow: declares the options that all its subcommands have.
  void (*declare_group)(Arguments& words, Options& options) = nullptr;

  /// Returns whether the row is a heading of the help, above the rows that follow.
  [[nodiscard]] constexpr bool is_heading() const { return *name == '\0'; }
};

std::span<const CommandRow> all_commands();

// Subcommands for this host, by the status API.
extern const CommandMaker make_status;
extern const CommandMaker make_top;
extern const CommandMaker make_lists;
extern const CommandMaker make_quiet;
extern const CommandMaker make_resume;  // with a list: ends its pause on all hosts
extern const CommandMaker make_reload;
extern const CommandMaker make_drain;
extern const CommandMaker make_cancel;

// Subcommands for all hosts, by Redis.
extern const CommandMaker make_fleet;
extern const CommandMaker make_fleet_forget;
extern const CommandMaker make_fleet_plan;
extern const CommandMaker make_runs;
extern const CommandMaker make_errors;
extern const CommandMaker make_statistics;
extern const CommandMaker make_show;
extern const CommandMaker make_watch;
extern const CommandMaker make_why;
extern const CommandMaker make_logs;
extern const CommandMaker make_run;
extern const CommandMaker make_items;
extern const CommandMaker make_add;
extern const CommandMaker make_remove;
extern const CommandMaker make_quarantine;
extern const CommandMaker make_release;
extern const CommandMaker make_rerun;
extern const CommandMaker make_pause;

// Subcommands for schedules, in Redis.
void declare_schedules(Arguments& words, Options& options);
extern const CommandMaker make_schedule_set;
extern const CommandMaker make_schedule_unset;
extern const CommandMaker make_schedule_tell;
extern const CommandMaker make_schedule_statuses;
extern const CommandMaker make_schedule_schedules;
extern const CommandMaker make_schedule_next;
extern const CommandMaker make_schedule_list;
extern const CommandMaker make_schedule_control;
extern const CommandMaker make_schedule_dispatch;

// Subcommands for feeds, sorted feeds, queues and jobs, in Redis.
void declare_feeds(Arguments& words, Options& options);
extern const CommandMaker make_feed_create;
extern const CommandMaker make_feed_delete;
extern const CommandMaker make_feed_list;
extern const CommandMaker make_feed_config;
extern const CommandMaker make_feed_publish;
extern const CommandMaker make_feed_retract;
extern const CommandMaker make_sorted_retract;
extern const CommandMaker make_feed_ids;
extern const CommandMaker make_sorted_ids;
extern const CommandMaker make_queue_ids;
extern const CommandMaker make_job_ids;
extern const CommandMaker make_feed_get;
extern const CommandMaker make_sorted_get;
extern const CommandMaker make_feed_all;
extern const CommandMaker make_sorted_all;
extern const CommandMaker make_feed_watch;
extern const CommandMaker make_sorted_watch;
extern const CommandMaker make_queue_watch;
extern const CommandMaker make_job_watch;
extern const CommandMaker make_sorted_append;
extern const CommandMaker make_sorted_prepend;
extern const CommandMaker make_sorted_before;
extern const CommandMaker make_sorted_after;
extern const CommandMaker make_sorted_edit;
extern const CommandMaker make_sorted_move;
extern const CommandMaker make_queue_put;
extern const CommandMaker make_queue_get;
extern const CommandMaker make_job_put;
extern const CommandMaker make_job_get;
extern const CommandMaker make_job_show;
extern const CommandMaker make_job_wait;
extern const CommandMaker make_job_fail;
extern const CommandMaker make_job_requeue;
extern const CommandMaker make_job_finish;
extern const CommandMaker make_job_cancel;
extern const CommandMaker make_job_stall;
extern const CommandMaker make_job_retry;
extern const CommandMaker make_job_retract;
extern const CommandMaker make_job_failures;
extern const CommandMaker make_job_maintain;

// Subcommands that need neither w8yd nor Redis.
extern const CommandMaker make_check_executor;
extern const CommandMaker make_help;

}  // namespace w8y::ctl
