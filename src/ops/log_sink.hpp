// Destination of log lines: a descriptor that may be full, slow or closed.
#pragma once

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/fd.hpp"
#include "ops/journal.hpp"

namespace w8y::ops {

/// Sink of spdlog for one thread, which counts lines that it could not write.
class LogSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  /// Returns the line that reports the number of lost lines, and the cause (errno).
  using Notice = std::function<std::string(std::uint64_t lost, int error)>;

  /// `journal`: path of the socket of journald.
  LogSink(Notice notice, std::string journal);

  /// Appends to a file from now on (mode 0640 if it is new), opened by open_own_for_writing().
  /// Empty: writes to standard error. Returns the error, and then changes nothing.
  std::string open(const std::string& path);
  /// Opens a file without using it: open() of the same path then uses it and cannot fail.
  std::string prepare(const std::string& path);
  void discard_prepared() { prepared_.reset(); }
  /// Sends lines as entries to journald, with fields. A line that journald cannot receive goes to
  /// the destination.
  void use_journal(bool on) { to_journal_ = on; }
  [[nodiscard]] bool uses_journal() const { return to_journal_; }
  /// Fields of the next line only.
  void set_fields(JournalFields fields) { fields_ = std::move(fields); }
  /// Whether the destination accepts a line of any length as a whole and without delay: a file or a
  /// socket.
  [[nodiscard]] bool accepts_long_lines() const;
  [[nodiscard]] std::uint64_t lost() const { return lost_in_all_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& msg) override;
  void flush_() override {}

 private:
  bool write_line(const spdlog::details::log_msg& msg, const JournalFields& fields);
  bool write_all(std::string_view bytes);
  bool wait_until_writable();
  [[nodiscard]] int destination() const { return file_ ? file_.get() : STDERR_FILENO; }

  Notice notice_;
  JournalSocket journal_;
  bool to_journal_ = false;
  JournalFields fields_;
  Fd file_;  ///< none: standard error
  std::string prepared_path_;
  Fd prepared_;         ///< open and not used yet
  bool torn_ = false;   ///< a line was written in part
  bool stuck_ = false;  ///< the reader did not read during the last wait
  int error_ = 0;
  std::uint64_t lost_ = 0;  ///< not reported yet
  std::uint64_t lost_in_all_ = 0;
};

}  // namespace w8y::ops
