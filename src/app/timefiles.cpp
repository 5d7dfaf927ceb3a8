#include "app/timefiles.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/trusted_path.hpp"
#include "loop/background.hpp"

namespace w8y::app {

namespace {

/// Writes a time. Returns the error; empty: there was none.
std::string write_time(const std::string& file, std::int64_t time) {
  const std::string temporary = file + ".0";
  const std::string text = std::to_string(time);
  const TrustedFile opened = open_own_for_writing(temporary, WriteAs::replace, 0644);
  if (!opened.fd) return temporary + ' ' + opened.problem;
  if (write(opened.fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return temporary + ": " + std::strerror(errno);
  if (rename(temporary.c_str(), file.c_str()) != 0) return file + ": " + std::strerror(errno);
  return {};
}

}  // namespace

void Timefiles::record(const std::string& file, std::int64_t time) {
  State& state = states_[file];
  if (state.writing) return;
  const auto error = std::make_shared<std::string>();
  state.writing = loop::in_background(
      loop_, [file, time, error] { *error = write_time(file, time); },
      [this, alive = alive_, file, error] {
        if (*alive) written(file, *error);
      });
}

void Timefiles::written(const std::string& file, const std::string& error) {
  State& state = states_[file];
  state.writing = false;
  if (error == state.error) return;
  state.error = error;
  if (error.empty()) return log_.info("timefile written again", {{"file", file}});
  log_.warn("cannot write timefile, retrying", {{"file", file}, {"reason", error}});
}

}  // namespace w8y::app
