#include "ops/log.hpp"

#include <spdlog/logger.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "ops/log_format.hpp"
#include "ops/log_sink.hpp"

namespace w8y::ops {

namespace {

/// Whether standard error is the journal. JOURNAL_STREAM has device and inode of the socket to the
/// journal (systemd.exec(5)). A child of a service may inherit the variable and write elsewhere, so
/// the values are compared.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  return stream == std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

/// Returns the fields for the journal. Their values are exact, without escapes.
JournalFields journal_fields(LogFields fields) {
  JournalFields found;
  for (const LogField& field : fields) {
    const char* const name = field.key == "list"   ? "W8Y_LIST"
                             : field.key == "run"  ? "W8Y_RUN_ID"
                             : field.key == "item" ? "W8Y_ITEM"
                                                   : nullptr;
    if (name == nullptr) continue;
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      found.emplace_back(name, *text);
    } else if (const auto* item = std::get_if<LoggedItem>(&field.value)) {
      found.emplace_back(name, item->beginning);
    }
  }
  return found;
}

}  // namespace

class Log::Impl {
 public:
  explicit Impl(std::string journal)
      : sink_(std::make_shared<LogSink>(
            [this](std::uint64_t lost, int error) { return notice(lost, error); },
            std::move(journal))),
        logger_("w8y", sink_) {
    // Errors of spdlog must not go to standard output or throw.
    logger_.set_error_handler([](const std::string&) {});
    apply(settings_);
  }

  void configure(const LogSettings& settings) {
    LogSettings next = settings;
    const std::string problem =
        settings.file == settings_.file ? std::string() : sink_->open(settings.file);
    if (!problem.empty()) next.file = settings_.file;
    apply(next);
    if (!problem.empty()) complain(settings.file, problem);
  }

  std::string prepare(const LogSettings& settings) {
    std::string problem = sink_->prepare(settings.file);
    // A reload only checks the present file again. SIGHUP reopens it.
    if (settings.file == settings_.file) sink_->discard_prepared();
    return problem;
  }

  void reopen() {
    if (settings_.file.empty()) return;
    if (const auto problem = sink_->open(settings_.file); !problem.empty())
      complain(settings_.file, problem);
  }

  [[nodiscard]] bool enabled(LogLevel level) const { return logger_.should_log(level_of(level)); }

  void write(LogLevel level, std::string_view message, LogFields fields) {
    if (!enabled(level)) return;
    const bool whole_items = has_long_item(fields) && sink_->accepts_long_lines();
    const std::string line = render_line(settings_.format, message, fields, whole_items);
    if (sink_->uses_journal()) sink_->set_fields(journal_fields(fields));
    logger_.log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
  }

  [[nodiscard]] std::uint64_t lost() const { return sink_->lost(); }

 private:
  void apply(const LogSettings& settings) {
    settings_ = settings;
    const bool journal = settings_.file.empty() && stderr_is_journal();
    sink_->set_formatter(make_formatter(settings_.format, journal));
    sink_->use_journal(journal);
    logger_.set_level(level_of(settings_.level));
  }

  void complain(const std::string& file, const std::string& problem) {
    write(LogLevel::error, "cannot open the log file", {{"file", file}, {"error", problem}});
  }

  [[nodiscard]] std::string notice(std::uint64_t lost, int error) const {
    return render_line(settings_.format, "log lines dropped",
                       {{"lines", lost}, {"error", std::strerror(error)}});
  }

  LogSettings settings_;
  std::shared_ptr<LogSink> sink_;
  spdlog::logger logger_;
};

Log::Log() : Log(LogSettings{}) {}

Log::Log(const LogSettings& settings, std::string journal)
    : impl_(std::make_unique<Impl>(std::move(journal))) {
  configure(settings);
}

Log::~Log() = default;

void Log::configure(const LogSettings& settings) {
  impl_->configure(settings);
}

std::string Log::prepare(const LogSettings& settings) {
  return impl_->prepare(settings);
}

void Log::reopen() {
  impl_->reopen();
}

bool Log::enabled(LogLevel level) const {
  return impl_->enabled(level);
}

void Log::put(LogLevel level, std::string_view message, LogFields fields) {
  impl_->write(level, message, fields);
}

std::uint64_t Log::lost() const {
  return impl_->lost();
}

}  // namespace w8y::ops
