#include "ctl/csv.hpp"

#include <utility>

namespace w8y::ctl {

namespace {

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char character : field) {
    if (character == '"') text += '"';
    text += character;
  }
  return text + '"';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  CsvText read() {
    while (at_ < text_.size()) read_row();
    return std::move(read_);
  }

 private:
  void read_row() {
    CsvRow row;
    row.line = line_;
    while (true) {
      row.fields.push_back(read_field());
      if (at_ == text_.size() || text_[at_] != ',') break;
      ++at_;
    }
    end_line();
    if (row.fields != std::vector<std::string>{""}) read_.rows.push_back(std::move(row));
  }

  /// Reads up to a ',' or the end of the row. Quotes are special at the start of a field only. Text
  /// after the closing quote belongs to the field.
  std::string read_field() {
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') read_quoted(field);
    while (at_ < text_.size() && text_[at_] != ',' && !at_end_of_line()) field += text_[at_++];
    return field;
  }

  void read_quoted(std::string& field) {
    const std::size_t started = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        if (ends_line(at_)) ++line_;
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        return;
      }
    }
    read_.unclosed_line = started;
  }

  [[nodiscard]] bool at_end_of_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  /// Returns whether this is the last character of a line end.
  [[nodiscard]] bool ends_line(std::size_t at) const {
    if (text_[at] == '\n') return true;
    return text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] != '\n');
  }
  void end_line() {
    while (at_ < text_.size() && at_end_of_line()) {
      const bool last = ends_line(at_++);
      if (!last) continue;
      ++line_;
      return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  CsvText read_;
};

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& field = fields[i];
    const bool needs_quotes = field.find_first_of(",\"\r\n") != std::string::npos ||
                              (field.empty() && fields.size() == 1);
    line += needs_quotes ? quoted(field) : field;
  }
  return line + "\r\n";
}

CsvText read_csv(std::string_view text) {
  return Reader(text).read();
}

}  // namespace w8y::ctl
