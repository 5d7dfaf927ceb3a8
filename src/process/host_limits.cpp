#include "process/host_limits.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace w8y::process {

namespace {

/// Sufficient for any w8yd; a larger descriptor table would use memory.
constexpr rlim_t enough_descriptors = rlim_t{1} << 20;

std::optional<rlimit>& first_limit() {
  static std::optional<rlimit> limit;
  return limit;
}

std::optional<unsigned>& first_umask() {
  static std::optional<unsigned> mask;
  return mask;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_small_file(path);
  std::uint64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;  // including "max"
  return number;
}

void tighten(std::optional<std::uint64_t>& limit, std::optional<std::uint64_t> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

/// Applies the limits of the groups above as well.
void tighten_by_groups(std::optional<HostLimits::Group>& tightest, std::string path) {
  for (; path.size() > 1; path.resize(path.rfind('/'))) {
    const auto most = number_in(path + "/pids.max");
    if (most && (!tightest || *most < tightest->most)) tightest = {path, *most};
    if (path.rfind('/') == std::string::npos) return;
  }
}

/// Bits of "CapEff:" in /proc/self/status; 24 is CAP_SYS_RESOURCE, 21 is CAP_SYS_ADMIN.
bool has_resource_capability() {
  const std::string status = read_small_file("/proc/self/status").value_or("");
  const std::size_t at = status.find("\nCapEff:\t");
  if (at == std::string::npos) return false;
  std::uint64_t bits = 0;
  const char* start = status.data() + at + 9;
  std::from_chars(start, status.data() + status.size(), bits, 16);
  constexpr std::uint64_t any = std::uint64_t{1} << 24 | std::uint64_t{1} << 21;
  return (bits & any) != 0;
}

}  // namespace

HostLimits host_limits(const CgroupPlace& place) {
  HostLimits limits;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY)
    limits.descriptors = std::min(limit.rlim_max, enough_descriptors);
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    limits.processes = limit.rlim_cur;
  limits.exempt = getuid() == 0 || has_resource_capability();
  std::string ignored;
  tighten_by_groups(limits.group, own_cgroup(place, ignored));
  tighten_by_groups(limits.group, own_cgroup_v1(place, "pids"));
  tighten(limits.kernel, number_in("/proc/sys/kernel/pid_max"));
  tighten(limits.kernel, number_in("/proc/sys/kernel/threads-max"));
  return limits;
}

void raise_descriptor_limit() {
  rlimit before{};
  if (getrlimit(RLIMIT_NOFILE, &before) != 0) return;
  rlimit raised = before;
  raised.rlim_cur = std::max(before.rlim_cur, std::min(before.rlim_max, enough_descriptors));
  if (raised.rlim_cur == before.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) != 0) return;
  if (!first_limit()) first_limit() = before;
}

std::optional<rlimit> descriptor_limit_of_children() {
  return first_limit();
}

void restrict_umask() {
  const mode_t before = umask(S_IWGRP | S_IWOTH);
  const mode_t ours = before | S_IWGRP | S_IWOTH;
  umask(ours);
  if (before != ours && !first_umask()) first_umask() = before;
}

std::optional<unsigned> umask_of_children() {
  return first_umask();
}

}  // namespace w8y::process
