// The ways to run a program once for an item: how it is called, and what its output means. What
// they have in common is in ProcessExecutor.
#pragma once

#include <optional>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/outcome.hpp"
#include "process/child.hpp"

namespace w8y::executor {

/// One object per kind, without state.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Fills in program, arguments and input, or says why the item can't be run so.
  virtual std::optional<NotStarted> call(const Claim& claim, const ListConfig& rule,
                                         process::ChildOptions& options) const = 0;
  /// Whether standard output speaks JSON lines; else it is log, as standard error is.
  [[nodiscard]] virtual bool speaks() const = 0;
};

/// `EXECUTOR [args…] NAME ID LENGTH` with the item, or a job's payload, on standard input.
const Protocol& single();
/// A plain command line: `{}` in an argument stands for the item.
const Protocol& command();

/// The one for a rule.
inline const Protocol& protocol_of(const ListConfig& rule) {
  return rule.is_command() ? command() : single();
}

}  // namespace w8y::executor
