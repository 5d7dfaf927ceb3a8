// Creates the executor for a list config.
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

/// Options that all executors of a host share.
struct ExecutorOptions {
  std::string host;                          ///< W8Y_HOST
  process::ControlGroups* groups = nullptr;  ///< for runs; nullptr: none
  RetiringStreams* retiring_streams =
      nullptr;                              ///< nullptr: processes without an executor are killed
  process::SpawnService* spawns = nullptr;  ///< for starts that may block; nullptr: none
  process::TempDirectories* directories =
      nullptr;  ///< removes their remaining contents; nullptr: none
  /// Time that an item waits for a process of a `stream` executor; then it is handed back.
  Duration timeout = std::chrono::seconds(1);
};

/// Creates an executor for a list, by its config and the capabilities of its program (none for a
/// command). nullptr: the program supports no kind that the config allows; see why_not().
std::unique_ptr<Executor> make_executor(loop::Loop& loop, const ExecutorOptions& options,
                                        RunHandler& handler, const ListConfig& rule,
                                        const Caps& caps);

/// Returns whether the list uses stream processes, which run many items each.
bool serves_stream(const ListConfig& rule, const Caps& caps);

/// Returns why a host with this program is ineligible for the list, such as "lacks \"gpu\""; empty:
/// it is eligible.
std::string why_not(const ListConfig& rule, const Caps& caps);

}  // namespace w8y::executor
