// Value of a lock, which has the reason why its item is not free (w8y-keys(7)). Built and parsed
// here. The scripts receive the values that they compare as arguments.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/item.hpp"

namespace w8y::store {

// Each type is a view of the value that was parsed.
struct RunningLock {
  std::string_view host;
  std::string_view pid;  ///< without the suffix that containers add
  std::string_view run;
};
struct RestingLock {
  std::string_view why;  ///< "cooldown" or "backoff"
};
struct QuarantinedLock {
  std::string_view by;  ///< a run ID, or "manual"
};
/// Lock of another program. Its item is not free either.
struct OtherLock {
  std::string_view value;
};
using LockValue = std::variant<RunningLock, RestingLock, QuarantinedLock, OtherLock>;
LockValue read_lock_value(std::string_view value);

/// Returns "run:<host>:<pid>:<run id>". Without a run ID it is the common prefix of all locks of
/// this holder.
std::string running_lock(std::string_view host, std::string_view pid, std::string_view run);
std::string resting_lock(bool after_failure);
std::string quarantined_lock(std::string_view by);

[[nodiscard]] bool is_quarantined(std::string_view value);
[[nodiscard]] bool is_resting(std::string_view value);
/// Number of leading bytes of a value that tell whether its item is quarantined or delayed.
inline constexpr std::size_t lock_kind_bytes = 16;

}  // namespace w8y::store
