// What the value of a lock says: why its item is not free (w8y-keys(7)). Made and read here; the
// scripts are given what they compare.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/item.hpp"

namespace w8y::store {

// Each is a view of the value that was read.
struct RunningLock {
  std::string_view host;
  std::string_view pid;  ///< as it was written, without what a container puts behind it
  std::string_view run;
};
struct RestingLock {
  std::string_view why;  ///< "cooldown", "backoff"
};
struct QuarantinedLock {
  std::string_view by;  ///< a run id, or "manual"
};
/// Not by a rule of ours; its item is not free all the same.
struct OtherLock {
  std::string_view value;
};
using LockValue = std::variant<RunningLock, RestingLock, QuarantinedLock, OtherLock>;
LockValue read_lock_value(std::string_view value);

/// "run:<host>:<pid>:<run id>". Without a run id it is what all locks of that holder begin with.
std::string running_lock(std::string_view host, std::string_view pid, std::string_view run);
std::string resting_lock(bool after_failure);
std::string quarantined_lock(std::string_view by);

[[nodiscard]] bool is_quarantined(std::string_view value);
[[nodiscard]] bool is_resting(std::string_view value);
/// So many bytes of a value tell whether it is quarantined or resting.
inline constexpr std::size_t lock_kind_bytes = 16;

}  // namespace w8y::store
