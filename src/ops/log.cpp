#include "ops/log.hpp"

#include <spdlog/logger.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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
  constexpr std::array levels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                 spdlog::level::warn, spdlog::level::err};
  return levels.at(static_cast<std::size_t>(level));
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

Log::Log(const LogSettings& settings, std::string journal)
    : sink_(std::make_shared<LogSink>(
          [this](std::uint64_t lost, int error) { return notice(lost, error); },
          std::move(journal))),
      logger_(std::make_unique<spdlog::logger>("w8y", sink_)) {
  // Errors of spdlog must not go to standard output or throw.
  logger_->set_error_handler([](const std::string&) {});
  apply(settings_);
  configure(settings);
}

Log::~Log() = default;

void Log::configure(const LogSettings& settings) {
  LogSettings next = settings;
  const std::string problem =
      settings.file == settings_.file ? std::string() : sink_->open(settings.file);
  if (!problem.empty()) next.file = settings_.file;
  apply(next);
  if (!problem.empty()) complain(settings.file, problem);
}

std::string Log::prepare(const LogSettings& settings) {
  std::string problem = sink_->prepare(settings.file);
  // A reload only checks the present file again. SIGHUP reopens it.
  if (settings.file == settings_.file) sink_->discard_prepared();
  return problem;
}

void Log::reopen() {
  if (settings_.file.empty()) return;
  if (const auto problem = sink_->open(settings_.file); !problem.empty())
    complain(settings_.file, problem);
}

bool Log::enabled(LogLevel level) const {
  return logger_->should_log(level_of(level));
}

std::uint64_t Log::lost() const {
  return sink_->lost();
}

void Log::put(LogLevel level, std::string_view message, LogFields fields) {
  const bool whole_items = has_long_item(fields) && sink_->accepts_long_lines();
  const std::string line = render_line(settings_.format, message, fields, whole_items);
  if (sink_->uses_journal()) sink_->set_fields(journal_fields(fields));
  logger_->log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
}

void Log::apply(const LogSettings& settings) {
  settings_ = settings;
  const bool journal = settings_.file.empty() && stderr_is_journal();
  sink_->set_formatter(make_formatter(settings_.format, journal));
  sink_->use_journal(journal);
  logger_->set_level(level_of(settings_.level));
}

void Log::complain(const std::string& file, const std::string& problem) {
  error("cannot open the log file", {{"file", file}, {"error", problem}});
}

std::string Log::notice(std::uint64_t lost, int error) const {
  return render_line(settings_.format, "log lines dropped",
                     {{"lines", lost}, {"error", std::strerror(error)}});
}

}  // namespace w8y::ops
