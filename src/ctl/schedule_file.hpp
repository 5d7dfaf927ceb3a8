// File of jobs and their schedules, as `w8yctl schedule schedules` writes it.
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
  /// Errors such as "FILE, line 3: …", by the line where they start.
  std::multimap<std::size_t, std::string> errors;
};

/// Reads a file; "-": standard input. Throws Failure if the file cannot be read.
ScheduleFile read_schedule_file(const std::string& path);
/// Returns the prefix of an error: "FILE, line 3: ".
std::string place_in(const std::string& path, std::size_t line);
/// Throws Failure with all errors. `not_done`: consequence of the errors, such as "nothing was
/// set".
[[noreturn]] void refuse(const ScheduleFile& file, const std::string& not_done);

}  // namespace w8y::ctl
