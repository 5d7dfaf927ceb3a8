// Resolves names of a list config to the numbers that a spawn needs.
#pragma once

#include <optional>
#include <string>

#include "core/list_config.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

/// Account of a child. If all members are empty, the account of this process.
struct Account {
  std::optional<Credentials> credentials;  ///< nullopt: no change
  std::string name;                        ///< `name`, `home` and `shell` are empty without a user
  std::string home;
  std::string shell;
};

/// Looks up names in the account database, which may take long. A number without an account is
/// accepted if a group is given. Returns an error such as "no such user 'x'".
std::optional<SpawnError> resolve(const RunAs& run_as, Account& account);

}  // namespace w8y::process
