// The log: one line per event, as text, logfmt or JSON, to standard error or a file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "ops/journal.hpp"

namespace spdlog {
class logger;
}

namespace w8y::ops {

class LogSink;

/// Output of a child. It is the last field of its line, always in quotes, and gets the room that
/// the other fields leave. So output cannot imitate a line of w8yd.
struct ChildOutput {
  std::string_view text;
};

/// An item, truncated as in all messages. If it is truncated, a separate field has its length.
struct LoggedItem : ItemRef {
  explicit LoggedItem(const ItemRef& item) : ItemRef(item) {}
};

/// One `key=value`. Keys are plain words of w8yd. Values may be any bytes and are escaped.
struct LogField {
  using FieldValue = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool,
                                  ChildOutput, LoggedItem>;

  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, const std::string& text) : key(name), value(text) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, ChildOutput said) : key(name), value(said) {}
  LogField(std::string_view name, LoggedItem item) : key(name), value(item) {}
  LogField(std::string_view name, bool flag) : key(name), value(flag) {}
  LogField(std::string_view name, double number) : key(name), value(number) {}
  template <typename Integer>
  requires std::is_integral_v<Integer> LogField(std::string_view name, Integer number)
      : key(name), value(widen(number)) {}

  std::string_view key;
  FieldValue value;

 private:
  template <typename Integer>
  static FieldValue widen(Integer number) {
    if constexpr (std::is_signed_v<Integer>) {
      return static_cast<std::int64_t>(number);
    } else {
      return static_cast<std::uint64_t>(number);
    }
  }
};
using LogFields = std::initializer_list<LogField>;

struct LogSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::string file;  ///< empty: standard error
};

/// Interface that writes lines.
class LineLog {
 public:
  virtual ~LineLog() = default;
  /// False: lines of this level are not written.
  [[nodiscard]] virtual bool enabled(LogLevel level) const = 0;

  void write(LogLevel level, std::string_view message, LogFields fields = {}) {
    if (enabled(level)) put(level, message, fields);
  }
  void trace(std::string_view message, LogFields fields = {}) {
    write(LogLevel::trace, message, fields);
  }
  void debug(std::string_view message, LogFields fields = {}) {
    write(LogLevel::debug, message, fields);
  }
  void info(std::string_view message, LogFields fields = {}) {
    write(LogLevel::info, message, fields);
  }
  void warn(std::string_view message, LogFields fields = {}) {
    write(LogLevel::warn, message, fields);
  }
  void error(std::string_view message, LogFields fields = {}) {
    write(LogLevel::error, message, fields);
  }

 protected:
  virtual void put(LogLevel level, std::string_view message, LogFields fields) = 0;
};

/// Log that never throws and rarely waits: if the disk is full or the reader has stopped, lines are
/// dropped. It counts lines that could not be written, and logs their number as soon as it can
/// write again. Every line has at most PIPE_BUF bytes, so that lines of several writers do not mix
/// and a pipe without a reader does not block. Only in a file or a socket may a long item exceed
/// this limit. If standard error may be a pipe, the program must ignore SIGPIPE.
///
/// If standard error is the journal, lines are entries of journald with the fields W8Y_LIST,
/// W8Y_RUN_ID and W8Y_ITEM, and text lines have no time. Lines that journald cannot receive as
/// entries go to standard error, and text lines then start with the priority for the journal.
class Log final : public LineLog {
 public:
  /// `journal`: path of the socket of journald.
  explicit Log(const LogSettings& settings = {}, std::string journal = journal_socket);
  ~Log() override;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Applies settings. If the file cannot be opened, logs that to the present destination and keeps
  /// it.
  void configure(const LogSettings& settings);
  /// Opens the file of future settings, so that configure() cannot fail, and changes nothing else.
  /// If it is the present file, only checks it. Returns the error; empty if there is none.
  std::string prepare(const LogSettings& settings);
  /// Reopens the file after it was moved away (SIGHUP).
  void reopen();

  [[nodiscard]] bool enabled(LogLevel level) const override;

  /// Total number of lines that could not be written.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  void put(LogLevel level, std::string_view message, LogFields fields) override;
  void apply(const LogSettings& settings);
  void complain(const std::string& file, const std::string& problem);
  [[nodiscard]] std::string notice(std::uint64_t lost, int error) const;

  LogSettings settings_;
  std::shared_ptr<LogSink> sink_;
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace w8y::ops
