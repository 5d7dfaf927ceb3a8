// Items from a file descriptor, each of which ends in a newline or a NUL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/item.hpp"

namespace w8y::ctl {

class ItemStream {
 public:
  /// Skips items longer than `longest`, without keeping them in memory. Skips empty items unless
  /// `with_empty`.
  ItemStream(int fd, char delimiter, std::size_t longest, bool with_empty = false)
      : fd_(fd), delimiter_(delimiter), longest_(longest), with_empty_(with_empty) {}

  struct Line {
    Item item;
    std::size_t number = 0;  ///< from 1
    bool too_long = false;   ///< `item` is only the start of the item
  };
  /// Returns the next item; nullopt: there are no more. Throws std::system_error.
  std::optional<Line> next();

 private:
  bool fill();

  int fd_;
  char delimiter_;
  std::size_t longest_;
  bool with_empty_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  bool at_end_ = false;
};

/// Reads a file of at most `most` bytes; "-": standard input. Throws Failure.
std::string read_file(const std::string& path, std::size_t most);

/// Decodes an item of standard input if it is in `base64`. False: it is not valid or too long; the
/// message ends with `effect`, such as "skipped".
bool accepts(ItemStream::Line& line, bool base64, const char* effect);

}  // namespace w8y::ctl
