// Environment of a child (w8y-executor(7), ENVIRONMENT).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "process/credentials.hpp"

namespace w8y::executor {

/// Variables in the form of execve. A later value of a name replaces an earlier one.
class Environment {
 public:
  void set(std::string_view name, std::string_view value);
  /// Copies a variable of this process, if it is set.
  void pass(const char* name);
  std::vector<std::string> release() { return std::move(variables_); }

 private:
  std::vector<std::string> variables_;
};

/// Returns PATH, LANG and TZ of this process, with which every child starts.
Environment basic_environment();
/// Sets HOME, USER, LOGNAME and SHELL of the user that a list names.
void set_account(Environment& environment, const process::Account& account);

/// Returns whether the bytes can be the value of a variable: no NUL, and within the kernel's limit
/// for one string (128 KiB). Otherwise exec would fail.
bool fits_variable(std::string_view name, std::string_view value);

/// Sets all variables of one run. From weakest to strongest: PATH, LANG, TZ; `env_pass` `*`; the
/// account's; `env_pass` by name; `env_file`; `env`; the run's own. `*` omits W8Y_…, since it may
/// contain the password of the URL, and the variables of systemd for w8yd alone. The spawn reads
/// the file.
void run_environment(const Claim& claim, const ListConfig& rule, const process::Account& account,
                     const std::string& host, process::SpawnRequest& request);
/// Sets the variables of a process for many runs. Omits the W8Y_… variables that differ between
/// runs.
void process_environment(const ListConfig& rule, const process::Account& account,
                         const std::string& host, process::SpawnRequest& request);

}  // namespace w8y::executor
