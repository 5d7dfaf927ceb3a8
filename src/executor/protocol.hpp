// Protocols of a program that runs once per item: its call, and the meaning of its output.
// ProcessExecutor holds the common part.
#pragma once

#include <optional>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/outcome.hpp"
#include "process/child.hpp"

namespace w8y::executor {

/// Protocol without state: one object per kind.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Fills in program, arguments and input. Returns an error if the item cannot be run this way.
  virtual std::optional<NotStarted> call(const Claim& claim, const ListConfig& rule,
                                         process::ChildOptions& options) const = 0;
  /// Returns whether standard output has JSON lines; otherwise it is log output, as standard error
  /// is.
  [[nodiscard]] virtual bool speaks() const = 0;
};

/// Returns the protocol with the command line `EXECUTOR [args…] NAME ID LENGTH`. The item, or the
/// payload of a job, is on standard input.
const Protocol& single();
/// Returns the protocol with a command line from the config. `{}` in an argument is replaced by the
/// item.
const Protocol& command();

/// Returns the protocol for a list config.
inline const Protocol& protocol_of(const ListConfig& rule) {
  return rule.is_command() ? command() : single();
}

}  // namespace w8y::executor
