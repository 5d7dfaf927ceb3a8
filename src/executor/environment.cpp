#include "executor/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "executor/placeholders.hpp"
#include "process/env_file.hpp"

namespace w8y::executor {

namespace {

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

void set_if_fits(Environment& environment, const std::string& name, const std::string& value) {
  if (fits_variable(name, value)) environment.set(name, value);
}

}  // namespace

void Environment::set(std::string_view name, std::string_view value) {
  std::string variable;
  variable.reserve(name.size() + value.size() + 1);
  variable.append(name).append(1, '=').append(value);
  process::set_variable(variables_, variable);
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
  return name.size() + 1 + value.size() < max_string && value.find('\0') == std::string_view::npos;
}

namespace {

/// Layers of variables from weakest to strongest, with the file between weaker and stronger ones.
class Layers {
 public:
  Layers(const ListConfig& rule, const process::Account& account) : file_(rule.child->env_file) {
    const auto& pass = rule.child->env_pass;
    weak_ = basic_environment();
    if (std::find(pass.begin(), pass.end(), "*") != pass.end()) pass_all(weak_);
    set_account(weak_, account);
    for (const std::string& name : pass)
      if (name != "*") weak_.pass(name.c_str());
  }
  /// Returns the layer that overrides the file.
  Environment& strong() { return file_.empty() ? weak_ : strong_; }
  void put_into(process::SpawnRequest& request) {
    request.env = weak_.release();
    request.env_file = file_;
    request.env_over = strong_.release();
  }

 private:
  const std::string& file_;
  Environment weak_;
  Environment strong_;
};

void set_list(Environment& environment, const ListConfig& rule, const std::string& host) {
  for (const auto& [name, value] : rule.child->env) environment.set(name, value);
  set_if_fits(environment, "W8Y_LIST", rule.prefix);
  environment.set("W8Y_HOST", host);
}

}  // namespace

void process_environment(const ListConfig& rule, const process::Account& account,
                         const std::string& host, process::SpawnRequest& request) {
  Layers layers(rule, account);
  set_list(layers.strong(), rule, host);
  layers.put_into(request);
}

void run_environment(const Claim& claim, const ListConfig& rule, const process::Account& account,
                     const std::string& host, process::SpawnRequest& request) {
  Layers layers(rule, account);
  Environment& environment = layers.strong();
  set_list(environment, rule, host);
  set_if_fits(environment, "W8Y_ITEM", claim.item);
  environment.set("W8Y_RUN_ID", claim.run);
  if (claim.fence) environment.set("W8Y_FENCE", std::to_string(*claim.fence));
  environment.set("W8Y_ATTEMPT", std::to_string(claim.attempt));
  if (!rule.child->env_var.empty()) set_if_fits(environment, rule.child->env_var, claim.item);
  layers.put_into(request);
}

}  // namespace w8y::executor
