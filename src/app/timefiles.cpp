#include "app/timefiles.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "loop/background.hpp"

namespace w8y::app {

namespace {

/// Why it could not be written; empty: it was.
std::string write_time(const std::string& file, std::int64_t time) {
  const std::string temporary = file + ".0";
  const std::string text = std::to_string(time);
  // Not through a link that somebody else may have put there.
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return temporary + ": " + std::strerror(errno);
  const bool wrote = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(fd);
  if (!wrote) return temporary + ": " + std::strerror(error);
  if (rename(temporary.c_str(), file.c_str()) != 0) return file + ": " + std::strerror(errno);
  return {};
}

}  // namespace

void Timefiles::note(const std::string& file, std::int64_t time) {
  State& state = states_[file];
  if (state.writing) return;
  const auto trouble = std::make_shared<std::string>();
  state.writing = loop::in_background(
      loop_, [file, time, trouble] { *trouble = write_time(file, time); },
      [this, alive = alive_, file, trouble] {
        if (*alive) written(file, *trouble);
      });
}

void Timefiles::written(const std::string& file, const std::string& trouble) {
  State& state = states_[file];
  state.writing = false;
  if (trouble == state.trouble) return;
  state.trouble = trouble;
  if (trouble.empty()) return log_.info("the timefile is written again", {{"file", file}});
  log_.warn("can't write the timefile; trying again", {{"file", file}, {"reason", trouble}});
}

}  // namespace w8y::app
