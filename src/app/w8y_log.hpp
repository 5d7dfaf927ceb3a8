// The log of `w8y`: lines as the Go program wrote them.
#pragma once

#include <string>
#include <string_view>

namespace w8y::app {

/// `w8y: 2026/11/21 10:00:00.000000 text`. Without the logging library: `w8y` starts once per item.
class W8yLog {
 public:
  /// Throws std::system_error if the file can't be opened.
  W8yLog(bool quiet, bool timestamps, const std::string& file);
  ~W8yLog();
  W8yLog(const W8yLog&) = delete;
  W8yLog& operator=(const W8yLog&) = delete;

  void line(std::string_view text);

 private:
  bool quiet_;
  bool timestamps_;
  int file_ = -1;
};

}  // namespace w8y::app
