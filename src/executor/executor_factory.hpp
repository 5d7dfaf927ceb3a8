// From a rule to the executor that can serve it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/caps.hpp"
#include "core/clock.hpp"
#include "core/executor.hpp"
#include "core/list_config.hpp"

namespace w8y::loop {
class Loop;
}
namespace w8y::process {
class ControlGroups;
class SpawnService;
class TempDirectories;
}  // namespace w8y::process

namespace w8y::executor {

class RetiringStreams;

/// What all executors of a host have in common.
struct ExecutorOptions {
  std::string host;                          ///< W8Y_HOST
  process::ControlGroups* groups = nullptr;  ///< for its runs; nullptr: none
  RetiringStreams* retiring_streams =
      nullptr;                              ///< nullptr: processes without an executor are killed
  process::SpawnService* spawns = nullptr;  ///< for starts that may take long; nullptr: none
  process::TempDirectories* directories =
      nullptr;  ///< to remove what is left in them; nullptr: none
  /// How long an item waits for a process of a `stream` executor; then it is handed back.
  Duration timeout = std::chrono::seconds(1);
};

/// An executor for a list, by its rule and by what its program offers (nothing for a command).
/// nullptr: the program offers no way that the rule allows; see why_not().
std::unique_ptr<Executor> make_executor(loop::Loop& loop, const ExecutorOptions& options,
                                        RunHandler& handler, const ListConfig& rule,
                                        const Caps& caps);

/// Whether a host with such a program can serve a rule: empty, or the reason for a refusal
/// ("lacks \"gpu\"").
std::string why_not(const ListConfig& rule, const Caps& caps);

}  // namespace w8y::executor
