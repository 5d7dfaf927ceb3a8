// Last bytes of the log output of a run or a process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace w8y::executor {

/// Tail of log output: of standard error, with the `print` messages between its lines. Keeps at
/// most twice its size, so that each byte is moved at most once.
class Tail {
 public:
  explicit Tail(std::size_t size) : size_(size) {}

  void add(std::string_view bytes) {
    if (bytes.size() > size_) bytes.remove_prefix(bytes.size() - size_);
    if (bytes_.size() + bytes.size() > 2 * size_) trim(size_ - bytes.size());
    bytes_ += bytes;
  }
  /// Adds a line of its own, also after an incomplete line.
  void add_line(std::string_view line) {
    if (!bytes_.empty() && bytes_.back() != '\n') add("\n");
    add(line);
    if (!line.ends_with('\n')) add("\n");
  }
  /// Returns a copy.
  [[nodiscard]] std::string text() const {
    return bytes_.size() > size_ ? bytes_.substr(bytes_.size() - size_) : bytes_;
  }
  std::string drain() {
    trim(size_);
    return std::exchange(bytes_, {});
  }

 private:
  void trim(std::size_t keep) {
    if (bytes_.size() > keep) bytes_.erase(0, bytes_.size() - keep);
  }

  std::size_t size_;
  std::string bytes_;
};

}  // namespace w8y::executor
