// Jobs and their schedules in a file, as `w8yctl schedule schedules` writes them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace w8y::ctl {

struct ScheduleFile {
  struct Row {
    std::string job;
    std::string schedule;
    std::size_t line = 0;
  };
  std::vector<Row> rows;
  /// By the line where they begin: "FILE, line 3: …".
  std::multimap<std::size_t, std::string> errors;
};

/// "-": standard input. Throws Failure if it can't be read.
ScheduleFile read_schedule_file(const std::string& path);
/// "FILE, line 3: "
std::string place_in(const std::string& path, std::size_t line);
/// Ends with every mistake; what was not done because of them: "nothing was set".
[[noreturn]] void refuse(const ScheduleFile& file, const std::string& not_done);

}  // namespace w8y::ctl
