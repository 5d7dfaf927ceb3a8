// From the names in a rule to the numbers that a spawn needs.
#pragma once

#include <optional>
#include <string>

#include "core/list_config.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

/// Who a child is to be. All empty: as we are.
struct Account {
  std::optional<Credentials> credentials;  ///< nullopt: nothing to change
  std::string name;                        ///< these three only if there is a user
  std::string home;
  std::string shell;
};

/// Asks the account database, which may take its time. A name that is a number may be one without
/// an account, if a group stands with it. Returns what is wrong ("no such user 'x'").
std::optional<SpawnError> resolve(const RunAs& run_as, Account& account);

}  // namespace w8y::process
