// Number of processors of this process, and limits that depend on it.
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "core/config.hpp"
#include "core/config_keys.hpp"
#include "core/setting_text.hpp"

namespace w8y {

namespace {

unsigned by_affinity() {
  // Larger than the CPU set of any kernel: a smaller set is an error.
  constexpr int most = 8192;
  cpu_set_t* set = CPU_ALLOC(most);
  if (set == nullptr) return 1;
  const std::size_t size = CPU_ALLOC_SIZE(most);
  const bool known = ::sched_getaffinity(0, size, set) == 0;
  const int count = known ? CPU_COUNT_S(size, set) : 1;
  CPU_FREE(set);
  return static_cast<unsigned>(std::max(count, 1));
}

/// Parses cpu.max of cgroup v2: "200000 100000" is two processors, "max …" is no limit.
std::optional<double> quota_in(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  double used = 0;
  const auto [end, error] = std::from_chars(quota.data(), quota.data() + quota.size(), used);
  if (error != std::errc() || used <= 0) return std::nullopt;
  return used / period;
}

/// Returns the path in the line "0::/path" of /proc/self/cgroup; empty without cgroup v2.
std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/")) return line.substr(3);
  return {};
}

}  // namespace

unsigned SystemConfigHost::processors() {
  unsigned count = by_affinity();
  // The lowest quota of the control group and its parents applies.
  for (std::string path = own_cgroup(); !path.empty(); path.resize(path.rfind('/'))) {
    const auto quota = quota_in("/sys/fs/cgroup" + path);
    if (quota && *quota < count) count = static_cast<unsigned>(std::floor(*quota));
  }
  return std::max(count, 1U);
}

namespace core {

namespace {

/// Parses "cpus", "cpus*2", "cpus/2".
std::optional<std::int32_t> share_in(std::string_view text) {
  constexpr std::string_view word = "cpus";
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (text.empty()) return 1;
  const char sign = text.front();
  if (sign != '*' && sign != '/') return std::nullopt;
  const char* end = text.data() + text.size();
  unsigned number = 0;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || stop != end || number == 0 ||
      static_cast<std::int64_t>(number) > max_runs)
    return std::nullopt;
  const auto share = static_cast<std::int32_t>(number);
  return sign == '*' ? share : -share;
}

std::string share_text(std::int32_t share) {
  if (share == 1) return "cpus";
  return share > 0 ? "cpus*" + std::to_string(share) : "cpus/" + std::to_string(-share);
}

}  // namespace

void read_count(const ConfigValue& value, unsigned min_count, unsigned& count,
                std::int32_t& share) {
  if (value.node().kind != Node::Kind::text) {
    if (value.integer(count, min_count, max_runs)) share = 0;
    return;
  }
  const auto read = share_in(value.node().text);
  if (!read) {
    return value.must_be(
        "a number without quotes, or a share of this host's processors: \"cpus\", \"cpus*2\" or "
        "\"cpus/2\"");
  }
  share = *read;
  const std::int64_t cpus = value.reading().host.processors();
  const std::int64_t number = share > 0 ? cpus * share : cpus / -share;
  count = static_cast<unsigned>(std::clamp<std::int64_t>(number, 1, max_runs));
}

/// Omits the number where it is not known: in the hash, which is the same on all hosts.
std::string show_count(unsigned count, std::int32_t share) {
  if (share == 0) return as_text(count);
  return count == 0 ? share_text(share) : share_text(share) + " (" + as_text(count) + " here)";
}

}  // namespace core

}  // namespace w8y
