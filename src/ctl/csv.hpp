// Rows of CSV, written and read as Python's csv module does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::ctl {

/// Returns a row that ends in CR LF, with quotes only where they are needed.
std::string csv_line(const std::vector<std::string>& fields);

struct CsvRow {
  std::vector<std::string> fields;
  std::size_t line = 1;  ///< on which the row starts
};

struct CsvText {
  std::vector<CsvRow> rows;       ///< without empty rows
  std::size_t unclosed_line = 0;  ///< of the last row, if it has an unclosed quote; 0: none
};
/// Reads CSV. Rows end in LF, CR LF or CR. Quoted text is kept unchanged, including its line ends.
CsvText read_csv(std::string_view text);

}  // namespace w8y::ctl
