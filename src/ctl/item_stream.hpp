// Items from a file descriptor: one per line, or with a NUL behind each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/item.hpp"

namespace w8y::ctl {

class ItemStream {
 public:
  /// What is longer than `longest` is passed over, without being kept in memory. Empty ones are
  /// passed over too, unless `with_empty`.
  ItemStream(int fd, char delimiter, std::size_t longest, bool with_empty = false)
      : fd_(fd), delimiter_(delimiter), longest_(longest), with_empty_(with_empty) {}

  struct Line {
    Item item;
    std::size_t number = 0;  ///< from 1
    bool too_long = false;   ///< its item is only its start
  };
  /// The next one; nullopt: there are no more. Throws std::system_error.
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

}  // namespace w8y::ctl
