#include "app/check.hpp"

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <w8y/escape.hpp>
#include <w8y/host_needs.hpp>

#include "executor/make.hpp"
#include "executor/probe.hpp"
#include "loop/loop.hpp"
#include "process/host_limits.hpp"

namespace w8y::app {

namespace {

bool runs_here(const Rule& rule, const ProbeResult& result) {
  const auto* caps = std::get_if<Caps>(&result);
  return caps != nullptr && executor::why_not(rule, *caps).empty();
}

std::string verdict(const Rule& rule, const ProbeResult& result) {
  if (const auto* refusal = std::get_if<Refusal>(&result)) return "refused: " + refusal->reason;
  const auto& caps = std::get<Caps>(result);
  if (const std::string why = executor::why_not(rule, caps); !why.empty()) return "refused: " + why;
  if (!rule.enabled) return "disabled: enabled = false";
  if (rule.concurrency == 0) return "disabled: concurrency = 0";
  std::string text = "runs, " + std::to_string(rule.concurrency) + " at once";
  if (caps.caps.empty()) return text;
  text += ", can";
  for (const auto& cap : caps.caps) text += " " + escape_text(cap);
  return text;
}

}  // namespace

int check(const Config& config) {
  loop::Loop loop;
  executor::ProcessProber prober(loop);
  std::map<std::string, ProbeResult> answers;
  for (const auto& [prefix, rule] : config.lists) {
    const std::string& name = prefix;
    if (rule->is_command()) {
      answers.emplace(name, prober.find(rule->command.front()));
    } else {
      prober.probe({rule->executor, rule->args, rule->child->identity},
                   config.supervisor.probe_timeout,
                   [&answers, name](ProbeResult&& answer) { answers.emplace(name, answer); });
    }
  }
  while (answers.size() < config.lists.size()) loop.turn(true);

  for (const auto& warning : config.warnings) std::cerr << "w8yd: " << warning << '\n';
  std::vector<RulePtr> served;
  for (const auto& [prefix, rule] : config.lists)
    if (runs_here(*rule, answers.at(prefix))) served.push_back(rule);
  for (const auto& line : shortfalls(served, config.supervisor, process::host_limits()))
    std::cerr << "w8yd: " << line << '\n';
  for (const auto& [prefix, rule] : config.lists) {
    const std::string& program = rule->is_command() ? rule->command.front() : rule->executor;
    std::cout << escape_text(prefix) << ": " << escape_text(program) << ": "
              << verdict(*rule, answers.at(prefix)) << '\n';
  }
  return 0;
}

}  // namespace w8y::app
