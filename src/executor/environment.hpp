// What a child finds in its environment (w8y-executor(7), ENVIRONMENT).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "process/credentials.hpp"

namespace w8y::executor {

/// Variables in the form of execve; a later value of a name takes the place of an earlier one.
class Environment {
 public:
  void set(std::string_view name, std::string_view value);
  /// The same from our own environment, if it is there.
  void pass(const char* name);
  std::vector<std::string> take() { return std::move(variables_); }

 private:
  std::vector<std::string> variables_;
};

/// PATH, LANG and TZ as we have them: what every child starts from.
Environment basic_environment();
/// HOME, USER, LOGNAME and SHELL of a user that a list names.
void set_account(Environment& environment, const process::Account& account);

/// Whether the bytes can be the value of a variable: no NUL, and within the kernel's limit for one
/// string (128 KiB), or the exec would fail.
bool fits_variable(std::string_view name, std::string_view value);

/// All variables of one run. From weakest to strongest: PATH, LANG, TZ; `env_pass` `*`; the
/// account's; `env_pass` by name; `env_file`; `env`; the run's own. `*` leaves out W8Y_… (it may
/// hold the URL with its password) and what systemd tells only us. The file is read by the spawn.
void run_environment(const Claim& claim, const ListConfig& rule, const process::Account& account,
                     const std::string& host, process::SpawnRequest& request);
/// The same for a process that takes many runs: of W8Y_… only what they have in common.
void process_environment(const ListConfig& rule, const process::Account& account,
                         const std::string& host, process::SpawnRequest& request);

}  // namespace w8y::executor
