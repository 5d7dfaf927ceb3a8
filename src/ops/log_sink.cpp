#include "ops/log_sink.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/trusted_path.hpp"

namespace w8y::ops {

namespace {

/// Time limit of the wait for a slow reader. After it expires, lines are dropped without a wait
/// until the reader reads again.
constexpr int timeout_ms = 50;

}  // namespace

LogSink::LogSink(Notice notice) : notice_(std::move(notice)), fd_(STDERR_FILENO) {}

LogSink::~LogSink() {
  if (owned_) close(fd_);
  discard_prepared();
}

std::string LogSink::prepare(const std::string& path) {
  discard_prepared();
  if (path.empty()) return {};
  TrustedFile file = open_own_for_writing(path, WriteAs::append, 0640);
  if (file.fd < 0) return std::move(file.problem);
  prepared_path_ = path;
  prepared_ = std::exchange(file.fd, -1);
  return {};
}

void LogSink::discard_prepared() {
  if (prepared_ >= 0) close(std::exchange(prepared_, -1));
}

std::string LogSink::open(const std::string& path) {
  if (prepared_ < 0 || prepared_path_ != path)
    if (std::string problem = prepare(path); !problem.empty()) return problem;
  const int fd = path.empty() ? STDERR_FILENO : std::exchange(prepared_, -1);
  if (owned_) close(fd_);
  fd_ = fd;
  owned_ = !path.empty();
  torn_ = false;
  stuck_ = false;
  return {};
}

bool LogSink::accepts_long_lines() const {
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
    ready = ::poll(&poll_fd, 1, stuck_ ? 0 : timeout_ms);
  } while (ready < 0 && errno == EINTR);
  stuck_ = ready == 0;
  return !stuck_;
}

}  // namespace w8y::ops
