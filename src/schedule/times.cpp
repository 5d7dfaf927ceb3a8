#include "schedule/times.hpp"

#include <algorithm>

namespace w8y::schedule {

namespace {

std::int64_t length(const std::vector<int>& numbers) {
  return static_cast<std::int64_t>(numbers.size());
}

std::int64_t place_of(const std::vector<int>& numbers, int number) {
  return std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin();
}

}  // namespace

Times::Times(std::vector<int> hours, std::vector<int> minutes, std::vector<int> seconds)
    : hours_(std::move(hours)), minutes_(std::move(minutes)), seconds_(std::move(seconds)) {}

std::int64_t Times::size() const noexcept {
  return all_ ? length(hours_) * length(minutes_) * length(seconds_) : length(kept_);
}

int Times::at(std::int64_t index) const {
  if (!all_) return kept_[static_cast<std::size_t>(index)];
  const auto part = [&index](const std::vector<int>& numbers) {
    const int number = numbers[static_cast<std::size_t>(index % length(numbers))];
    index /= length(numbers);
    return number;
  };
  const int second = part(seconds_);
  const int minute = part(minutes_);
  return part(hours_) * 3600 + minute * 60 + second;
}

std::int64_t Times::first_from(int second) const {
  if (!all_) return place_of(kept_, second);
  const std::int64_t hour = place_of(hours_, second / 3600);
  std::int64_t index = hour * length(minutes_);
  if (hour == length(hours_) || hours_[static_cast<std::size_t>(hour)] != second / 3600)
    return index * length(seconds_);
  const std::int64_t minute = place_of(minutes_, second / 60 % 60);
  index = (index + minute) * length(seconds_);
  if (minute == length(minutes_) || minutes_[static_cast<std::size_t>(minute)] != second / 60 % 60)
    return index;
  return index + place_of(seconds_, second % 60);
}

void Times::keep(const std::vector<int>& positions) {
  std::vector<int> kept;
  for (const int position : positions) {
    const std::int64_t index = position > 0 ? position - 1 : size() + position;
    if (index >= 0 && index < size()) kept.push_back(at(index));
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  kept_ = std::move(kept);
  all_ = false;
}

}  // namespace w8y::schedule
