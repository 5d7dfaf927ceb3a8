// IDs of runs.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

/// ID of a run, unique in the fleet: a ULID of 26 characters. Later IDs sort after earlier ones. A
/// copy allocates no memory, because each run's ID is copied into several tables.
class RunId {
 public:
  static constexpr std::size_t longest = 31;

  RunId() = default;
  /// A text that is too long becomes an ID that no run has, because users can enter any text.
  RunId(std::string_view text) noexcept
      : size_(static_cast<std::uint8_t>(std::min(text.size(), longest + 1))) {
    std::copy_n(text.begin(), std::min(text.size(), longest), text_.begin());
  }
  RunId(const std::string& text) noexcept : RunId(std::string_view(text)) {}
  RunId(const char* text) noexcept : RunId(std::string_view(text)) {}

  operator std::string_view() const noexcept {
    return {text_.data(), std::min<std::size_t>(size_, longest)};
  }
  [[nodiscard]] std::string str() const { return std::string(std::string_view(*this)); }
  [[nodiscard]] std::size_t size() const noexcept { return std::string_view(*this).size(); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Compare the IDs as texts.
  friend bool operator==(const RunId& one, const RunId& other) noexcept {
    return std::memcmp(&one, &other, sizeof one) == 0;
  }
  friend std::strong_ordering operator<=>(const RunId& one, const RunId& other) noexcept {
    return std::memcmp(&one, &other, sizeof one) <=> 0;
  }
  /// Returns a hash of the characters that differ between IDs of w8y, or of the first characters of
  /// other IDs.
  [[nodiscard]] std::size_t hash() const noexcept {
    constexpr std::size_t last_of_ulid = 18;
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, text_.data(), sizeof first);
    std::memcpy(&last, text_.data() + last_of_ulid, sizeof last);
    return static_cast<std::size_t>((first ^ (last * 0x9E3779B97F4A7C15U)) * 0xD6E8FEB86659FD93U >>
                                    16U);
  }
  friend std::string operator+(std::string text, const RunId& id) {
    return std::move(text += std::string_view(id));
  }
  friend std::string operator+(const RunId& id, std::string_view text) {
    return id.str().append(text);
  }

 private:
  std::array<char, longest> text_{};  ///< zero-padded, because comparisons use the whole array
  std::uint8_t size_ = 0;
};

/// Generator of ULIDs: 48 bits of Unix time in milliseconds and 80 random bits in Crockford's base
/// 32, so that they sort by time. Within one millisecond each ID is greater than the previous one.
class RunIds {
 public:
  explicit RunIds(std::uint64_t seed) : random_(seed) {}
  RunId next(WallTime now);

 private:
  std::mt19937_64 random_;
  std::uint64_t last_ms_ = 0;
  std::uint64_t high_ = 0;  // 16 bits
  std::uint64_t low_ = 0;   // 64 bits
};

}  // namespace w8y

template <>
struct std::hash<w8y::RunId> {
  std::size_t operator()(const w8y::RunId& id) const noexcept { return id.hash(); }
};
