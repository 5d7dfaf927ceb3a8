// Where lines of the log go: a descriptor that may be full, slow or gone.
#pragma once

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace w8y::ops {

/// A spdlog sink for one thread, which counts what it could not write.
class LogSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  /// Gives the text of the line that says how many were lost, and why (errno).
  using Notice = std::function<std::string(std::uint64_t lost, int error)>;

  explicit LogSink(Notice notice);
  ~LogSink() override;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  /// Appends to a file from now on (mode 0640 if it is new), which open_own_for_writing() opens;
  /// empty: to standard error. Returns why it cannot, and then changes nothing.
  std::string open(const std::string& path);
  /// Opens it, and no more: open() of the same path takes what was opened, and can't fail.
  std::string prepare(const std::string& path);
  void discard_prepared();
  /// A file or a socket: they take a line as a whole, however long it is, and soon.
  [[nodiscard]] bool takes_long_lines() const;
  [[nodiscard]] std::uint64_t lost() const { return lost_in_all_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& msg) override;
  void flush_() override {}

 private:
  bool write_all(std::string_view bytes);
  bool wait_until_writable();

  Notice notice_;
  int fd_;
  bool owned_ = false;  ///< fd_ is ours to close
  std::string prepared_path_;
  int prepared_ = -1;   ///< open and not used yet
  bool torn_ = false;   ///< a line was written in part
  bool stuck_ = false;  ///< the reader didn't read the last time we waited for it
  int error_ = 0;
  std::uint64_t lost_ = 0;  ///< and not told yet
  std::uint64_t lost_in_all_ = 0;
};

}  // namespace w8y::ops
