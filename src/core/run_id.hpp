// Names for runs.
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

/// Names one execution in the whole fleet: a ULID, 26 characters, later ones sort after earlier. It
/// is copied into each table that knows a run, several times for each: a copy takes no memory.
class RunId {
 public:
  static constexpr std::size_t longest = 31;

  RunId() = default;
  /// A longer text becomes an id that no run has: what people ask for may be anything.
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

  /// As their texts.
  friend bool operator==(const RunId& one, const RunId& other) noexcept {
    return std::memcmp(&one, &other, sizeof one) == 0;
  }
  friend std::strong_ordering operator<=>(const RunId& one, const RunId& other) noexcept {
    return std::memcmp(&one, &other, sizeof one) <=> 0;
  }
  /// Of the characters that differ between our own ids, and of the first ones of any other.
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
  std::array<char, longest> text_{};  ///< zeros after its end: two are compared as a whole
  std::uint8_t size_ = 0;
};

/// Makes ULIDs: 48 bits of Unix milliseconds, 80 random bits, in Crockford's base 32, so that they
/// sort by time. Within one millisecond each is greater than the one before.
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
