// What a list's settings say about its children, whichever way they are run.
#pragma once

#include <optional>

#include "core/list_config.hpp"
#include "core/outcome.hpp"
#include "executor/executor_factory.hpp"
#include "process/child.hpp"
#include "process/credentials.hpp"
#include "process/temp_directory.hpp"

namespace w8y::executor {

/// What the list names for its children is not to be had.
inline NotStarted not_started(const process::SpawnError& error) {
  return {error.text, false, error.host_is_short(), !error.host_is_short()};
}

/// Fills in all but program, arguments, environment and input; makes the folder if there is to be
/// one. Returns why not.
std::optional<NotStarted> set_options(const ListConfig& rule, const process::Account& account,
                                      const ExecutorOptions& host,
                                      process::TempDirectory& directory,
                                      process::ChildOptions& options);

}  // namespace w8y::executor
