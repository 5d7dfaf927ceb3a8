// Caches the account that runs use, so that a busy list does not look it up for every run.
#pragma once

#include <chrono>
#include <optional>

#include "core/clock.hpp"
#include "core/list_config.hpp"
#include "process/credentials.hpp"

namespace w8y::executor {

/// Cache of one account. A change of the account takes effect within one second.
class AccountCache {
 public:
  /// Looks up the account for account(). Returns an error if that fails.
  std::optional<process::SpawnError> find_account(const RunAs& run_as, Instant now) {
    const bool known = now < until_ && run_as.user == of_.user && run_as.group == of_.group;
    if (known) return std::nullopt;
    until_ = Instant();
    if (auto problem = process::resolve(run_as, account_)) return problem;
    of_ = run_as;
    until_ = now + std::chrono::seconds(1);
    return std::nullopt;
  }
  [[nodiscard]] const process::Account& account() const { return account_; }

 private:
  RunAs of_;
  process::Account account_;
  Instant until_;
};

}  // namespace w8y::executor
