// The commands of `w8yctl`.
#pragma once

#include <span>

#include "app/ctl/command.hpp"

namespace w8y::app::ctl {

struct CommandRow {
  const char* name;      ///< "schedule set": a command of the group "schedule"
  const char* what;      ///< one line
  CommandPtr (*make)();  ///< nullptr: specified, but not in this version; or a group
  /// A group, whose rows come behind it: what all of its commands take.
  void (*declare_group)(Words& words, Options& options) = nullptr;
};

std::span<const CommandRow> all_commands();

// This host, through the status API.
CommandPtr make_status();
CommandPtr make_lists();
CommandPtr make_quiet();
CommandPtr make_resume();  // with a list, its pause on all hosts
CommandPtr make_reload();
CommandPtr make_drain();
CommandPtr make_cancel();

// All hosts, through Redis.
CommandPtr make_runs();
CommandPtr make_show();
CommandPtr make_watch();
CommandPtr make_items();
CommandPtr make_add();
CommandPtr make_remove();
CommandPtr make_quarantine();
CommandPtr make_release();
CommandPtr make_pause();

// Schedules, in Redis.
void declare_schedules(Words& words, Options& options);
CommandPtr make_schedule_set();
CommandPtr make_schedule_unset();
CommandPtr make_schedule_tell();
CommandPtr make_schedule_statuses();
CommandPtr make_schedule_schedules();
CommandPtr make_schedule_next();
CommandPtr make_schedule_list();
CommandPtr make_schedule_control();
CommandPtr make_schedule_dispatch();

// Nobody else.
CommandPtr make_check_executor();

}  // namespace w8y::app::ctl
