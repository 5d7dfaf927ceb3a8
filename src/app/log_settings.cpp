#include "app/log_settings.hpp"

#include <unistd.h>

namespace w8y::app {

namespace {

ops::LogSettings settings_of(const Config& config) {
  const SupervisorSettings& wanted = config.supervisor;
  return {wanted.log_level, wanted.log_format, wanted.log_file};
}

}  // namespace

void LogSettings::start(const Config& config) {
  log_.configure(settings_of(config));
  log_.info("w8yd started",
            {{"version", W8Y_VERSION}, {"host", config.supervisor.host}, {"pid", getpid()}});
  commit(config);
}

std::string LogSettings::prepare(const Config&, const Config& wanted) {
  const std::string problem = log_.prepare(settings_of(wanted));
  if (problem.empty()) return {};
  return "log_file \"" + wanted.supervisor.log_file + "\" " + problem;
}

void LogSettings::commit(const Config& wanted) {
  for (const auto& warning : wanted.warnings) log_.warn(warning);
}

void LogSettings::applied(const Config& config) {
  log_.configure(settings_of(config));
}

}  // namespace w8y::app
