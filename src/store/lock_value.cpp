#include "store/lock_value.hpp"

namespace w8y::store {

namespace {

constexpr std::string_view run_prefix = "run:";
constexpr std::string_view rest_prefix = "delay:";
constexpr std::string_view quarantine_prefix = "quarantine:";
static_assert(quarantine_prefix.size() <= lock_kind_bytes);

/// Parses from the right: a pid and a run ID have no ':', but a host name of another program may
/// have one.
LockValue read_holder(std::string_view value, std::string_view holder) {
  const auto run = holder.rfind(':');
  if (run == std::string_view::npos || run == 0) return OtherLock{value};
  const auto pid = holder.rfind(':', run - 1);
  if (pid == std::string_view::npos) return OtherLock{value};
  const std::string_view number = holder.substr(pid + 1, run - pid - 1);
  return RunningLock{holder.substr(0, pid), number.substr(0, number.find('.')),
                     holder.substr(run + 1)};
}

}  // namespace

LockValue read_lock_value(std::string_view value) {
  if (value.starts_with(run_prefix)) return read_holder(value, value.substr(run_prefix.size()));
  if (is_resting(value)) return RestingLock{value.substr(rest_prefix.size())};
  if (is_quarantined(value)) return QuarantinedLock{value.substr(quarantine_prefix.size())};
  return OtherLock{value};
}

std::string running_lock(std::string_view host, std::string_view pid, std::string_view run) {
  std::string value;
  value.reserve(run_prefix.size() + host.size() + pid.size() + run.size() + 2);
  value.append(run_prefix).append(host).append(1, ':').append(pid).append(1, ':').append(run);
  return value;
}

std::string resting_lock(bool after_failure) {
  return std::string(rest_prefix) + (after_failure ? "backoff" : "cooldown");
}

std::string quarantined_lock(std::string_view by) {
  return std::string(quarantine_prefix).append(by);
}

bool is_quarantined(std::string_view value) {
  return value.starts_with(quarantine_prefix);
}

bool is_resting(std::string_view value) {
  return value.starts_with(rest_prefix);
}

}  // namespace w8y::store
