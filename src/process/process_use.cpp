#include "process/process_use.hpp"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "process/cgroup_files.hpp"

namespace w8y::process {

namespace {

/// Returns the sum of utime, stime, cutime and cstime in /proc/PID/stat, in clock ticks.
std::optional<std::uint64_t> ticks_in(const std::string& stat) {
  // The name may contain any character, and ends with the last ')'.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field <= 13; ++field) rest >> skipped;
  std::uint64_t sum = 0;
  for (int field = 14; field <= 17; ++field) {
    std::uint64_t ticks = 0;
    if (!(rest >> ticks)) return std::nullopt;
    sum += ticks;
  }
  return sum;
}

}  // namespace

ResourceUse process_use(pid_t pid) {
  ResourceUse use;
  const std::string folder = "/proc/" + std::to_string(pid);
  constexpr std::uint64_t kib = 1024;
  if (const auto stat = read_small_file(folder + "/stat"))
    if (const auto ticks = ticks_in(*stat))
      use.cpu = std::chrono::milliseconds(*ticks * 1000 /
                                          static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
  const std::string status = read_small_file(folder + "/status").value_or("");
  // "VmHWM:     5432 kB"; a process that has ended and was not reaped has no such line.
  constexpr std::string_view name = "VmHWM:";
  std::uint64_t peak = 0;
  if (const auto at = status.find(name); at != std::string::npos)
    if (std::istringstream(status.substr(at + name.size())) >> peak) use.peak_memory = peak * kib;
  return use;
}

}  // namespace w8y::process
