#include "ctl/schedule_file.hpp"

#include "core/escape.hpp"
#include "ctl/csv.hpp"
#include "ctl/failure.hpp"
#include "ctl/item_stream.hpp"
#include "ctl/schedule_common.hpp"

namespace w8y::ctl {

std::string place_in(const std::string& path, std::size_t line) {
  return (path == "-" ? "standard input" : escape_text(path)) + ", line " + std::to_string(line) +
         ": ";
}

ScheduleFile read_schedule_file(const std::string& path) {
  CsvText csv = read_csv(read_file(path, std::string::npos));
  ScheduleFile file;
  const auto error = [&](std::size_t line, const std::string& why) {
    file.errors.emplace(line, place_in(path, line) + why);
  };
  if (csv.unclosed_line > 0) {
    error(csv.unclosed_line, "has an unclosed quote");
    csv.rows.pop_back();
  }
  for (CsvRow& row : csv.rows) {
    const std::size_t count = row.fields.size();
    if (count != 2) {
      error(row.line, "has " + std::to_string(count) + (count == 1 ? " field" : " fields") +
                          ", but JOB,SCHEDULE is needed; quote a field that has commas, quotes or "
                          "newlines");
    } else if (const std::string why = job_error(row.fields[0]); !why.empty()) {
      error(row.line, why);
    } else {
      file.rows.push_back({std::move(row.fields[0]), schedule_of(row.fields[1], {}), row.line});
    }
  }
  return file;
}

void refuse(const ScheduleFile& file, const std::string& not_done) {
  std::vector<std::string> lines;
  for (const auto& [line, text] : file.errors) lines.push_back(text);
  lines.push_back(not_done);
  const std::string first = lines.front();
  lines.erase(lines.begin());
  throw Failure(refused, first, std::move(lines));
}

}  // namespace w8y::ctl
