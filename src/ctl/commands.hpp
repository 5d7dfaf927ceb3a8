// Subcommands of `w8yctl`.
#pragma once

#include <span>

#include "ctl/command.hpp"
#include "operator/feed_access.hpp"

namespace w8y::ctl {

struct CommandRow {
  const char* name;                ///< "schedule set": subcommand "set" of the group "schedule"
  const char* what;                ///< help text, one line; of a heading: its text
  CommandPtr (*make)() = nullptr;  ///< nullptr: a group, or not in this version
  bool changes = false;            ///< changes Redis itself: refused while hosts use another format
  /// Set for a group, whose rows follow: declares the options that all its subcommands have.
  void (*declare_group)(Arguments& words, Options& options) = nullptr;

  /// Returns whether the row is a heading of the help, above the rows that follow.
  [[nodiscard]] constexpr bool is_heading() const { return *name == '\0'; }
};

std::span<const CommandRow> all_commands();

// Subcommands for this host, by the status API.
CommandPtr make_status();
CommandPtr make_top();
CommandPtr make_lists();
CommandPtr make_quiet();
CommandPtr make_resume();  // with a list: ends its pause on all hosts
CommandPtr make_reload();
CommandPtr make_drain();
CommandPtr make_cancel();

// Subcommands for all hosts, by Redis.
CommandPtr make_fleet();
CommandPtr make_fleet_forget();
CommandPtr make_fleet_plan();
CommandPtr make_runs();
CommandPtr make_errors();
CommandPtr make_statistics();
CommandPtr make_show();
CommandPtr make_watch();
CommandPtr make_why();
CommandPtr make_logs();
CommandPtr make_run();
CommandPtr make_items();
CommandPtr make_add();
CommandPtr make_remove();
CommandPtr make_quarantine();
CommandPtr make_release();
CommandPtr make_rerun();
CommandPtr make_pause();

// Subcommands for schedules, in Redis.
void declare_schedules(Arguments& words, Options& options);
CommandPtr make_schedule_set();
CommandPtr make_schedule_unset();
CommandPtr make_schedule_tell();
CommandPtr make_schedule_statuses();
CommandPtr make_schedule_schedules();
CommandPtr make_schedule_next();
CommandPtr make_schedule_list();
CommandPtr make_schedule_control();
CommandPtr make_schedule_dispatch();

// Subcommands for feeds, sorted feeds, queues and jobs, in Redis.
void declare_feeds(Arguments& words, Options& options);
CommandPtr make_feed_create();
CommandPtr make_feed_delete();
CommandPtr make_feed_list();
CommandPtr make_feed_config();
CommandPtr make_feed_publish();
CommandPtr make_feed_retract(verbs::FeedKind kind);  // feed or sorted_feed
CommandPtr make_feed_ids(verbs::FeedKind kind);
CommandPtr make_feed_get(verbs::FeedKind kind);
CommandPtr make_feed_all(verbs::FeedKind kind);
CommandPtr make_feed_watch(verbs::FeedKind kind);
CommandPtr make_sorted_append();
CommandPtr make_sorted_prepend();
CommandPtr make_sorted_before();
CommandPtr make_sorted_after();
CommandPtr make_sorted_edit();
CommandPtr make_sorted_move();
CommandPtr make_feed_put(verbs::FeedKind kind);   // queue or job
CommandPtr make_feed_take(verbs::FeedKind kind);  // queue or job
CommandPtr make_job_show();
CommandPtr make_job_wait();
CommandPtr make_job_fail();
CommandPtr make_job_requeue();
CommandPtr make_job_finish();
CommandPtr make_job_cancel();
CommandPtr make_job_stall();
CommandPtr make_job_retry();
CommandPtr make_job_retract();
CommandPtr make_job_failures();
CommandPtr make_job_maintain();

// Subcommands that need neither w8yd nor Redis.
CommandPtr make_check_executor();
CommandPtr make_help();

}  // namespace w8y::ctl
