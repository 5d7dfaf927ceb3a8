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

namespace w8y::ops {

/// What a child said. It stands last in its line, always in quotes, and has the room that the
/// other fields leave: whatever it is, nobody can take it for a line of ours.
struct ChildOutput {
  std::string_view text;
};

/// An item: as much of it as is shown anywhere, and its length, in a field of its own, where that
/// is not all of it.
struct LoggedItem : ItemRef {
  explicit LoggedItem(const ItemRef& item) : ItemRef(item) {}
};

/// One `key=value`. Keys are ours (plain words); values may be any bytes and are escaped.
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

/// Where lines go.
class LineLog {
 public:
  virtual ~LineLog() = default;
  /// False: lines of this level are left out.
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

/// Never throws, and hardly ever waits: a full disk or a reader that stopped reading costs lines,
/// not time. Lines that could not be written are counted, and the log says how many as soon as it
/// can be written again. Every line is at most PIPE_BUF bytes, so that lines of several writers
/// don't mix, and a pipe that nobody reads is not waited for; only where it goes to a file or a
/// socket, a long item takes the room that it needs. Where standard error may be a pipe, the
/// program has to ignore SIGPIPE.
///
/// If standard error is the journal, text lines have no time but the priority that it reads.
class Log final : public LineLog {
 public:
  /// To standard error, as text.
  Log();
  explicit Log(const LogSettings& settings);
  ~Log() override;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// A file that can't be opened is said in the log, which goes on where it was.
  void configure(const LogSettings& settings);
  /// Opens the file of settings to come, so that configure() can't fail; nothing changes yet. The
  /// present file is only checked again. Why it can't be opened; empty: it is.
  std::string prepare(const LogSettings& settings);
  /// Opens the file anew, after it was moved away (SIGHUP).
  void reopen();

  [[nodiscard]] bool enabled(LogLevel level) const override;

  /// Lines that could not be written, in all.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  void put(LogLevel level, std::string_view message, LogFields fields) override;

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::ops
