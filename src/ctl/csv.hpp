// Rows of CSV as Python's csv module writes and reads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::ctl {

/// A line that ends in CR LF: quotes where they are needed, and no more.
std::string csv_line(const std::vector<std::string>& fields);

struct CsvRow {
  std::vector<std::string> fields;
  std::size_t line = 1;  ///< on which it begins
};

struct CsvText {
  std::vector<CsvRow> rows;       ///< that are not empty
  std::size_t unclosed_line = 0;  ///< the last row has a quote that nothing closes; 0: it has not
};
/// Lines end in LF, CR LF or CR. What is in quotes is kept as it is, ends of lines too.
CsvText read_csv(std::string_view text);

}  // namespace w8y::ctl
