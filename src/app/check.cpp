#include "app/check.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "app/probing.hpp"
#include "core/escape.hpp"
#include "core/limit_shortfalls.hpp"
#include "process/host_limits.hpp"

namespace w8y::app {

namespace {

constexpr int lists_refused = 1;

std::string verdict(const Rule& rule, const ProbeResult& result) {
  if (const std::string why = refusal_of(rule, result); !why.empty())
    return "refused: " + escape(why);
  const auto& caps = std::get<Caps>(result);
  if (!rule.enabled) return "disabled: enabled = false";
  if (rule.concurrency == 0) return "disabled: concurrency = 0";
  std::string text = "runs, " + std::to_string(rule.concurrency) + " at once";
  if (caps.caps.empty()) return text;
  text += ", can";
  for (const auto& cap : caps.caps) text += " " + escape_text(cap);
  return text;
}

}  // namespace

int check(const Config& config, bool strict) {
  std::vector<RulePtr> all;
  for (const auto& [prefix, rule] : config.lists) all.push_back(rule);
  const auto answers = probe_all(all, config.supervisor.probe_timeout);

  for (const auto& warning : config.warnings) std::cerr << "w8yd: " << warning << '\n';
  std::vector<RulePtr> served;
  for (const RulePtr& rule : all)
    if (refusal_of(*rule, answers.at(rule->prefix)).empty()) served.push_back(rule);
  for (const auto& line : shortfalls(served, config.supervisor, process::host_limits()))
    std::cerr << "w8yd: " << line << '\n';
  for (const RulePtr& rule : all) {
    const std::string& program = rule->is_command() ? rule->command->front() : *rule->executor;
    std::cout << escape_text(rule->prefix) << ": " << escape_text(program) << ": "
              << verdict(*rule, answers.at(rule->prefix)) << '\n';
  }
  return strict && served.size() < all.size() ? lists_refused : 0;
}

}  // namespace w8y::app
