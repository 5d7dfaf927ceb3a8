// Text that must not lie about in memory: passwords, and what they stand in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace w8y {

/// Overwrites it with zeros, all that it has memory for, and leaves it empty.
void wipe(std::string& text);

/// While one lives, what its thread frees with `delete` is overwritten with zeros first, and the
/// stack below it at its end: for what reads a secret by way of other code, such as a parser. Only
/// w8yd is linked with a `delete` that knows of it (app/wiping_delete.cpp); elsewhere it is just
/// the stack.
class Wiping {
 public:
  Wiping();
  ~Wiping();
  Wiping(const Wiping&) = delete;
  Wiping& operator=(const Wiping&) = delete;

  /// Whether one lives in this thread.
  static bool now() noexcept;
};

/// One copy, shared by all who hold it, and overwritten when the last of them is gone.
class Secret {
 public:
  Secret() = default;
  Secret(std::string_view text);  // NOLINT: as text, but for what becomes of it
  Secret(const char* text) : Secret(std::string_view(text)) {}
  Secret(const std::string& text) : Secret(std::string_view(text)) {}

  [[nodiscard]] std::string_view view() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// The same copy, a part of it.
  [[nodiscard]] Secret part(std::size_t from, std::size_t length) const;
  bool operator==(const Secret& other) const { return text_ == other.text_; }

 private:
  std::shared_ptr<const char> owner_;
  std::string_view text_;
};

}  // namespace w8y
