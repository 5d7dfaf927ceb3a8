// Text that must not stay in memory when it is no longer needed: passwords, and texts that contain
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace w8y {

/// Overwrites all memory of the text with zeros, and makes it empty.
void wipe(std::string& text);

/// While an object of this class exists, memory that its thread frees with `delete` is overwritten
/// with zeros first. The destructor also overwrites the stack below it. It is used where other
/// code, such as a parser, handles a secret. Only w8yd is linked with a `delete` that checks for it
/// (app/wiping_delete.cpp). Other programs only overwrite the stack.
class Wiping {
 public:
  Wiping();
  ~Wiping();
  Wiping(const Wiping&) = delete;
  Wiping& operator=(const Wiping&) = delete;

  /// Returns whether an object of this class exists in this thread.
  static bool now() noexcept;
};

/// One shared copy of a secret. It is overwritten when its last owner is destroyed.
class Secret {
 public:
  Secret() = default;
  Secret(std::string_view text);  // NOLINT: implicit, as for a text
  Secret(const char* text) : Secret(std::string_view(text)) {}
  Secret(const std::string& text) : Secret(std::string_view(text)) {}

  [[nodiscard]] std::string_view view() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// Returns a part that shares the same copy.
  [[nodiscard]] Secret part(std::size_t from, std::size_t length) const;
  bool operator==(const Secret& other) const { return text_ == other.text_; }

 private:
  std::shared_ptr<const char> owner_;
  std::string_view text_;
};

}  // namespace w8y
