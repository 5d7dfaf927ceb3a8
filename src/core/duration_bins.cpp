#include "core/duration_bins.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace w8y {

namespace {

constexpr double bins_per_octave = 4;
/// Counts above this are ignored when a text is parsed, so that sums do not overflow.
constexpr std::uint64_t max_count = std::uint64_t{1} << 53;

std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most)
    return std::nullopt;
  return number;
}

/// Returns the geometric middle of a bin, by the sum of its first and its last index.
WallTime middle_of(unsigned ends) {
  const double ms = std::exp2((static_cast<double>(ends) / 2 - 0.5) / bins_per_octave);
  return WallTime(std::max<std::int64_t>(1, std::llround(ms)));
}

}  // namespace

unsigned DurationBins::bin_of(Duration duration) {
  const double ms = std::chrono::duration<double, std::milli>(duration).count();
  if (ms <= 1) return 0;
  const double index = std::ceil(std::log2(ms) * bins_per_octave);
  return static_cast<unsigned>(std::min<double>(index, last_bin));
}

void DurationBins::add_at(unsigned middle, std::uint64_t count) {
  const auto found =
      std::lower_bound(bins_.begin(), bins_.end(), middle,
                       [](const Bin& each, unsigned of) { return each.middle < of; });
  if (found != bins_.end() && found->middle == middle) {
    found->count += count;
  } else {
    bins_.insert(found, {middle, count});
  }
}

DurationBins& DurationBins::operator+=(const DurationBins& more) {
  for (const Bin& bin : more.bins_) add_at(bin.middle, bin.count);
  return *this;
}

std::uint64_t DurationBins::count() const {
  std::uint64_t all = 0;
  for (const Bin& bin : bins_) all += bin.count;
  return all;
}

std::optional<WallTime> DurationBins::percentile(unsigned percent) const {
  const std::uint64_t all = count();
  const double rank = std::ceil(static_cast<double>(all) * percent / 100);
  std::uint64_t seen = 0;
  for (const Bin& bin : bins_) {
    seen += bin.count;
    if (static_cast<double>(seen) >= rank) return middle_of(bin.middle);
  }
  return std::nullopt;
}

std::string DurationBins::text() const {
  if (bins_.empty()) return "-";
  std::string text;
  for (const Bin& bin : bins_) {
    text.append(text.empty() ? "" : ",").append(std::to_string(bin.middle / 2));
    text.append(":").append(std::to_string(bin.count));
  }
  return text;
}

DurationBins DurationBins::parse(std::string_view text) {
  DurationBins bins;
  std::uint64_t width = 1;
  if (const std::size_t end = text.find('/'); end != std::string_view::npos) {
    width = number_in(text.substr(0, end), max_width).value_or(0);
    text.remove_prefix(end + 1);
  }
  while (width > 0 && !text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) continue;
    const auto index = number_in(part.substr(0, colon), last_bin / width);
    const auto count = number_in(part.substr(colon + 1), max_count);
    if (index && count && *count > 0)
      bins.add_at(static_cast<unsigned>(2 * *index * width + width - 1), *count);
  }
  return bins;
}

}  // namespace w8y
