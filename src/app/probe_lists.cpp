#include "app/probe_lists.hpp"

#include <utility>

#include "executor/executor_factory.hpp"
#include "executor/probe.hpp"
#include "loop/loop.hpp"
#include "process/spawn_service.hpp"
#include "source/source_factory.hpp"

namespace w8y::app {

std::map<std::string, ProbeResult> probe_all(const std::vector<ListConfigPtr>& rules,
                                             Duration timeout) {
  loop::Loop loop;
  process::SpawnService spawns(loop);
  executor::ProcessProber prober(loop, nullptr, &spawns);
  std::map<std::string, ProbeResult> answers;
  for (const ListConfigPtr& rule : rules)
    prober.look_for(*rule, timeout, [&answers, name = rule->prefix](ProbeResult&& answer) {
      answers.emplace(name, std::move(answer));
    });
  while (answers.size() < rules.size()) loop.iterate(true);
  return answers;
}

std::string refusal_of(const ListConfig& rule, const ProbeResult& answer) {
  if (const auto* refusal = std::get_if<Ineligibility>(&answer)) return refusal->reason;
  std::string why = executor::why_not(rule, std::get<Caps>(answer));
  return why.empty() ? source::why_not(rule) : why;
}

}  // namespace w8y::app
