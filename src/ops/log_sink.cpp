#include "ops/log_sink.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/trusted_path.hpp"
#include "ops/log_format.hpp"

namespace w8y::ops {

namespace {

/// Time limit of the wait for a slow reader. After it expires, lines are dropped without a wait
/// until the reader reads again.
constexpr int timeout_ms = 50;

/// Returns a line without its priority and its newline.
std::string_view message_of(std::string_view line) {
  if (line.size() > 3 && line[0] == '<' && line[2] == '>') line.remove_prefix(3);
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace

LogSink::LogSink(Notice notice, std::string journal)
    : notice_(std::move(notice)), journal_(std::move(journal)) {}

std::string LogSink::prepare(const std::string& path) {
  prepared_.reset();
  if (path.empty()) return {};
  TrustedFile file = open_own_for_writing(path, WriteAs::append, 0640);
  if (!file.fd) return std::move(file.problem);
  prepared_path_ = path;
  prepared_ = std::move(file.fd);
  return {};
}

std::string LogSink::open(const std::string& path) {
  if (!prepared_ || prepared_path_ != path)
    if (std::string problem = prepare(path); !problem.empty()) return problem;
  file_ = path.empty() ? Fd() : std::move(prepared_);
  torn_ = false;
  stuck_ = false;
  return {};
}

bool LogSink::accepts_long_lines() const {
  struct stat status {};
  return fstat(destination(), &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

void LogSink::sink_it_(const spdlog::details::log_msg& msg) {
  const JournalFields fields = std::exchange(fields_, {});
  if (lost_ > 0) {
    const std::string text = notice_(lost_, error_);
    const spdlog::details::log_msg notice(msg.time, msg.source, msg.logger_name,
                                          spdlog::level::warn,
                                          spdlog::string_view_t(text.data(), text.size()));
    if (!write_line(notice, {})) {
      ++lost_;
      ++lost_in_all_;
      return;
    }
    lost_ = 0;
  }
  if (!write_line(msg, fields)) {
    ++lost_;
    ++lost_in_all_;
  }
}

bool LogSink::write_line(const spdlog::details::log_msg& msg, const JournalFields& fields) {
  spdlog::memory_buf_t line;
  if (torn_) line.push_back('\n');
  const std::size_t start = line.size();
  formatter_->format(msg, line);
  const std::string_view bytes(line.data(), line.size());
  if (to_journal_) {
    const std::string entry =
        journal_entry(journal_priority(msg.level), message_of(bytes.substr(start)), fields);
    const auto sent = journal_.send(entry, stuck_ ? 0 : timeout_ms);
    stuck_ = sent == JournalSocket::Sent::busy;
    if (stuck_) error_ = EAGAIN;
    if (sent != JournalSocket::Sent::impossible) return !stuck_;
  }
  return write_all(bytes);
}

bool LogSink::write_all(std::string_view bytes) {
  if (!wait_until_writable()) {
    error_ = EAGAIN;
    return false;
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t result = ::write(destination(), bytes.data() + written, bytes.size() - written);
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
  pollfd poll_fd = {destination(), POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, stuck_ ? 0 : timeout_ms);
  } while (ready < 0 && errno == EINTR);
  stuck_ = ready == 0;
  return !stuck_;
}

}  // namespace w8y::ops
