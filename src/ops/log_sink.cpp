#include "ops/log_sink.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace w8y::ops {

namespace {

/// How long a reader that is behind is waited for, once, before its lines are dropped.
constexpr int patience_ms = 50;

}  // namespace

LogSink::LogSink(Notice notice) : notice_(std::move(notice)), fd_(STDERR_FILENO) {}

LogSink::~LogSink() {
  if (owned_) close(fd_);
  if (prepared_ >= 0) close(prepared_);
}

int LogSink::prepare(const std::string& path) {
  if (prepared_ >= 0) close(std::exchange(prepared_, -1));
  prepared_path_ = path;
  if (path.empty()) return 0;
  // Not blocking, for the case that it is a FIFO that nobody reads.
  prepared_ =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
  return prepared_ < 0 ? errno : 0;
}

int LogSink::open(const std::string& path) {
  if (prepared_ < 0 || prepared_path_ != path)
    if (const int error = prepare(path); error != 0) return error;
  const int fd = path.empty() ? STDERR_FILENO : std::exchange(prepared_, -1);
  if (owned_) close(fd_);
  fd_ = fd;
  owned_ = !path.empty();
  torn_ = false;
  stuck_ = false;
  return 0;
}

bool LogSink::takes_long_lines() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 && (S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

void LogSink::sink_it_(const spdlog::details::log_msg& msg) {
  spdlog::memory_buf_t lines;
  if (torn_) lines.push_back('\n');
  if (lost_ > 0) {
    const std::string text = notice_(lost_, error_);
    const spdlog::details::log_msg notice(msg.time, msg.source, msg.logger_name,
                                          spdlog::level::warn,
                                          spdlog::string_view_t(text.data(), text.size()));
    formatter_->format(notice, lines);
    if (!write_all({lines.data(), lines.size()})) {
      ++lost_;
      ++lost_in_all_;
      return;
    }
    lost_ = 0;
    lines.clear();
  }
  formatter_->format(msg, lines);
  if (!write_all({lines.data(), lines.size()})) {
    ++lost_;
    ++lost_in_all_;
  }
}

bool LogSink::write_all(std::string_view bytes) {
  if (!wait_until_writable()) {
    error_ = EAGAIN;
    return false;
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t result = ::write(fd_, bytes.data() + written, bytes.size() - written);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) {
      error_ = result < 0 ? errno : ENOSPC;
      torn_ = torn_ || written > 0;
      return false;
    }
    written += static_cast<std::size_t>(result);
  }
  torn_ = false;
  return true;
}

bool LogSink::wait_until_writable() {
  pollfd poll_fd = {fd_, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, stuck_ ? 0 : patience_ms);
  } while (ready < 0 && errno == EINTR);
  stuck_ = ready == 0;
  return !stuck_;
}

}  // namespace w8y::ops
