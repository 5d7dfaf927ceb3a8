#include "ops/process_stats.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace w8y::ops {

namespace {

/// Boot time of the host, as Unix time.
double boot_time() {
  std::ifstream stat("/proc/stat");
  for (std::string word; stat >> word;) {
    double seconds = 0;
    if (word == "btime" && stat >> seconds) return seconds;
    stat.ignore(1 << 16, '\n');
  }
  return 0;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error))
    ++count;
  return count > 0 ? count - 1 : 0;  // without the descriptor of this loop
}

}  // namespace

std::optional<ProcessStats> process_stats() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name may contain any characters, and ends with the last ')'.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::string skipped;
  double user = 0;
  double system = 0;
  double started = 0;
  ProcessStats stats;
  std::uint64_t pages = 0;
  for (int field = 3; field <= 13; ++field) rest >> skipped;
  rest >> user >> system;
  for (int field = 16; field <= 21; ++field) rest >> skipped;
  if (!(rest >> started >> stats.virtual_bytes >> pages)) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  stats.cpu_seconds = (user + system) / ticks;
  stats.start_seconds = boot_time() + started / ticks;
  stats.resident_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  stats.open_descriptors = open_descriptors();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_descriptors = limit.rlim_cur;
  return stats;
}

}  // namespace w8y::ops
