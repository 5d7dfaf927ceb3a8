#include <string>

#include "executor/placeholders.hpp"
#include "executor/protocol.hpp"

namespace w8y::executor {

namespace {

class Single : public Protocol {
 public:
  std::optional<NotStarted> call(const Claim& claim, const ListConfig& rule,
                                 process::ChildOptions& options) const override {
    options.input = claim.call.input.value_or(claim.item);
    auto& argv = options.spawn.argv;
    options.spawn.program = rule.executor;
    argv.reserve(rule.args->size() + 4);
    argv.push_back(rule.executor);
    argv.insert(argv.end(), rule.args->begin(), rule.args->end());
    argv.push_back(claim.call.name.value_or(rule.prefix));
    argv.push_back(claim.call.id.value_or(claim.run.str()));
    if (auto why_not = no_argument("the ID of the job", argv.back())) return why_not;
    argv.push_back(std::to_string(options.input.size()));
    return std::nullopt;
  }
  [[nodiscard]] bool speaks() const override { return true; }
};

}  // namespace

const Protocol& single() {
  static const Single protocol;
  return protocol;
}

}  // namespace w8y::executor
