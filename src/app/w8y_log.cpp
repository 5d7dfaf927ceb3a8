#include "app/w8y_log.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

#include "core/escape.hpp"

namespace w8y::app {

W8yLog::W8yLog(bool quiet, bool timestamps, const std::string& file)
    : quiet_(quiet), timestamps_(timestamps) {
  if (file.empty()) return;
  file_ = Fd(open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file_)
    throw std::system_error(errno, std::generic_category(),
                            "cannot open log file " + escape_text(file));
}

void W8yLog::line(std::string_view text) {
  if (quiet_ && !file_) return;
  std::string line = "w8y: ";
  if (timestamps_) {
    timeval now{};
    gettimeofday(&now, nullptr);
    tm utc{};
    gmtime_r(&now.tv_sec, &utc);
    char stamp[64];
    const int length = std::snprintf(stamp, sizeof stamp, "%04d/%02d/%02d %02d:%02d:%02d.%06ld ",
                                     utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                                     utc.tm_min, utc.tm_sec, long{now.tv_usec});
    if (length > 0) line.append(stamp, static_cast<std::size_t>(length));
  }
  line += escape(text);
  line += '\n';
  // An error of the log must not prevent the run.
  if (!quiet_ && write(STDERR_FILENO, line.data(), line.size()) < 0) quiet_ = errno == EPIPE;
  if (file_ && write(file_.get(), line.data(), line.size()) < 0) return;
}

}  // namespace w8y::app
