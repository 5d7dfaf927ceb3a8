// Log of `w8y`, in the format of the Go program.
#pragma once

#include <string>
#include <string_view>

#include "core/fd.hpp"

namespace w8y::app {

/// Log with lines such as `w8y: 2026/11/21 10:00:00.000000 text`. Does not use the logging library,
/// because `w8y` starts once per item.
class W8yLog {
 public:
  /// Throws std::system_error if the file cannot be opened.
  W8yLog(bool quiet, bool timestamps, const std::string& file);

  void line(std::string_view text);

 private:
  bool quiet_;
  bool timestamps_;
  Fd file_;
};

}  // namespace w8y::app
