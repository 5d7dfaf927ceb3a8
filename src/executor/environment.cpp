#include "executor/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "executor/env_file.hpp"

namespace w8y::executor {

namespace {

/// MAX_ARG_STRLEN of Linux, with its final NUL.
constexpr std::size_t longest_string = std::size_t{128} << 10;

bool is_name_of(const std::string& variable, std::string_view name) {
  return variable.size() > name.size() && variable[name.size()] == '=' &&
         variable.compare(0, name.size(), name) == 0;
}

bool is_ours_alone(std::string_view variable) {
  for (const std::string_view start :
       {"W8Y_", "NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC=", "LISTEN_"})
    if (variable.substr(0, start.size()) == start) return true;
  return false;
}

void pass_all(Environment& environment) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || is_ours_alone(text)) continue;
    environment.set(text.substr(0, equals), text.substr(equals + 1));
  }
}

void set_item(Environment& environment, const std::string& name, const Item& item) {
  if (fits_variable(name, item)) environment.set(name, item);
}

}  // namespace

void Environment::set(std::string_view name, std::string_view value) {
  std::string variable;
  variable.reserve(name.size() + value.size() + 1);
  variable.append(name).append(1, '=').append(value);
  const auto known =
      std::find_if(variables_.begin(), variables_.end(),
                   [name](const std::string& other) { return is_name_of(other, name); });
  if (known != variables_.end()) {
    *known = std::move(variable);
  } else {
    variables_.push_back(std::move(variable));
  }
}

void Environment::pass(const char* name) {
  if (const char* value = std::getenv(name)) set(name, value);
}

void set_account(Environment& environment, const process::Account& account) {
  if (account.name.empty()) return;
  environment.set("HOME", account.home);
  environment.set("USER", account.name);
  environment.set("LOGNAME", account.name);
  environment.set("SHELL", account.shell);
}

Environment basic_environment() {
  Environment environment;
  for (const char* name : {"PATH", "LANG", "TZ"}) environment.pass(name);
  return environment;
}

bool fits_variable(std::string_view name, std::string_view value) {
  return name.size() + 1 + value.size() < longest_string &&
         value.find('\0') == std::string_view::npos;
}

namespace {

/// What a list gives to all its children.
std::optional<process::SpawnError> list_environment(const Rule& rule,
                                                    const process::Account& account,
                                                    const std::string& host,
                                                    Environment& environment) {
  if (std::find(rule.child->env_pass.begin(), rule.child->env_pass.end(), "*") !=
      rule.child->env_pass.end())
    pass_all(environment);
  set_account(environment, account);
  for (const std::string& name : rule.child->env_pass)
    if (name != "*") environment.pass(name.c_str());
  if (!rule.child->env_file.empty())
    if (auto problem = read_env_file(rule.child->env_file, environment)) return problem;
  for (const auto& [name, value] : rule.child->env) environment.set(name, value);

  environment.set("W8Y_LIST", rule.prefix);
  environment.set("W8Y_HOST", host);
  return std::nullopt;
}

}  // namespace

std::optional<process::SpawnError> process_environment(const Rule& rule,
                                                       const process::Account& account,
                                                       const std::string& host,
                                                       std::vector<std::string>& result) {
  Environment environment = basic_environment();
  if (auto problem = list_environment(rule, account, host, environment)) return problem;
  result = environment.take();
  return std::nullopt;
}

std::optional<process::SpawnError> run_environment(const Claim& claim, const Rule& rule,
                                                   const process::Account& account,
                                                   const std::string& host,
                                                   std::vector<std::string>& result) {
  Environment environment = basic_environment();
  if (auto problem = list_environment(rule, account, host, environment)) return problem;
  set_item(environment, "W8Y_ITEM", claim.item);
  environment.set("W8Y_RUN_ID", claim.run);
  environment.set("W8Y_FENCE", std::to_string(claim.fence));
  environment.set("W8Y_ATTEMPT", std::to_string(claim.attempt));
  if (!rule.child->env_var.empty()) set_item(environment, rule.child->env_var, claim.item);
  result = environment.take();
  return std::nullopt;
}

}  // namespace w8y::executor
