// Text that must not stay in memory once nobody needs it: passwords, and what holds them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace w8y {

/// Overwrites all memory of the text with zeros, and leaves it empty.
void wipe(std::string& text);

/// While one lives, memory that its thread frees with `delete` is overwritten with zeros first; at
/// its end, so is the stack below it. It is for code that handles a secret by way of other code,
/// such as a parser. Only w8yd is linked with a `delete` that knows of it (app/wiping_delete.cpp);
/// other programs only have their stack overwritten.
class Wiping {
 public:
  Wiping();
  ~Wiping();
  Wiping(const Wiping&) = delete;
  Wiping& operator=(const Wiping&) = delete;

  /// Whether one lives in this thread.
  static bool now() noexcept;
};

/// One copy, shared by all who hold it. It is overwritten when the last of them is gone.
class Secret {
 public:
  Secret() = default;
  Secret(std::string_view text);  // NOLINT: as text, but for what becomes of it
  Secret(const char* text) : Secret(std::string_view(text)) {}
  Secret(const std::string& text) : Secret(std::string_view(text)) {}

  [[nodiscard]] std::string_view view() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// A part of the same copy.
  [[nodiscard]] Secret part(std::size_t from, std::size_t length) const;
  bool operator==(const Secret& other) const { return text_ == other.text_; }

 private:
  std::shared_ptr<const char> owner_;
  std::string_view text_;
};

}  // namespace w8y
