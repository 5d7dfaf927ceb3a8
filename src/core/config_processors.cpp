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

struct Share {
  char sign = '*';
  unsigned number = 1;
};

/// Parses "cpus", "cpus*2", "cpus/2".
std::optional<Share> share_in(std::string_view text) {
  constexpr std::string_view word = "cpus";
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (text.empty()) return Share{};
  Share share{text.front(), 0};
  if (share.sign != '*' && share.sign != '/') return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, share.number);
  if (error != std::errc() || stop != end || share.number == 0 ||
      static_cast<std::int64_t>(share.number) > max_runs)
    return std::nullopt;
  return share;
}

}  // namespace

void read_concurrency(const ConfigValue& value, ListConfig& rule) {
  if (value.node().kind != Node::Kind::text) {
    if (value.integer(rule.concurrency, 0, max_runs)) rule.concurrency_by = "";
    return;
  }
  const auto share = share_in(value.node().text);
  if (!share) {
    return value.must_be(
        "a number without quotes, or a share of this host's processors: \"cpus\", \"cpus*2\" or "
        "\"cpus/2\"");
  }
  const std::uint64_t cpus = value.reading().host.processors();
  const std::uint64_t number = share->sign == '*' ? cpus * share->number : cpus / share->number;
  rule.concurrency = static_cast<unsigned>(std::clamp<std::uint64_t>(number, 1, max_runs));
  rule.concurrency_by = value.node().text;
}

/// Omits the number where it is not known: in the hash, which is the same on all hosts.
std::string show_concurrency(const ListConfig& rule) {
  if (rule.concurrency_by->empty()) return as_text(rule.concurrency);
  if (rule.concurrency == 0) return rule.concurrency_by;
  return *rule.concurrency_by + " (" + as_text(rule.concurrency) + " here)";
}

}  // namespace core

}  // namespace w8y
