// Options of a child that follow from its list config, for all kinds of executors.
#pragma once

#include <optional>

#include "core/list_config.hpp"
#include "core/outcome.hpp"
#include "executor/executor_factory.hpp"
#include "process/child.hpp"
#include "process/credentials.hpp"
#include "process/temp_directory.hpp"

namespace w8y::executor {

/// Converts the error of a spawn to the reason why a run was not started.
inline NotStarted not_started(const process::SpawnError& error) {
  return {error.text, false, error.host_is_short(), !error.host_is_short()};
}

/// Sets all options except program, arguments, environment and input. Creates the temporary
/// directory if the list uses one, and returns the reason if that fails.
std::optional<NotStarted> set_options(const ListConfig& rule, const process::Account& account,
                                      const ExecutorOptions& host,
                                      process::TempDirectory& directory,
                                      process::ChildOptions& options);

}  // namespace w8y::executor
