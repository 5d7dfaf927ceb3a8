// The commands of `w8yctl`.
#pragma once

#include <span>

#include "app/ctl/command.hpp"

namespace w8y::app::ctl {

struct CommandRow {
  const char* name;
  const char* what;      ///< one line
  CommandPtr (*make)();  ///< nullptr: specified, but not in this version
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

// Nobody else.
CommandPtr make_check_executor();

}  // namespace w8y::app::ctl
