#include "executor/placeholders.hpp"
#include "executor/protocol.hpp"
#include "process/find_program.hpp"

namespace w8y::executor {

namespace {

class Command : public Protocol {
 public:
  std::optional<NotStarted> call(const Claim& claim, const ListConfig& rule,
                                 process::ChildOptions& options) const override {
    const std::string& program = rule.command->front();
    // With a slash there is no search, and the exec reports errors.
    options.spawn.program = program;
    if (program.find('/') == std::string::npos) {
      auto found = process::find_program(program);
      if (found.path.empty())
        return NotStarted{"cannot run " + program + ": " + found.problem, false, false, true};
      options.spawn.program = std::move(found.path);
    }
    if (claim.call.input) options.input = *claim.call.input;
    return fill_in(rule.command, claim.item, options.spawn.argv);
  }
  [[nodiscard]] bool speaks() const override { return false; }
};

}  // namespace

const Protocol& command() {
  static const Command protocol;
  return protocol;
}

}  // namespace w8y::executor
