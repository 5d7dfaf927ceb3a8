// Who runs are to be, looked up seldom enough that a busy list doesn't notice.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/list_config.hpp"
#include "process/credentials.hpp"

namespace w8y::executor {

/// Remembers the last account for a second: so soon a change of it takes effect.
class AccountCache {
 public:
  /// Returns what is wrong; else account() is the one.
  std::optional<process::SpawnError> look_up(const RunAs& run_as, Instant now) {
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
