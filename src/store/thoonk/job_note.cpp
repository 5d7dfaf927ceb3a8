#include "store/thoonk/job_note.hpp"

#include "core/number.hpp"

namespace w8y::store::thoonk {

namespace {

bool read_number(std::string_view& text, std::int64_t& into) {
  const std::size_t end = text.find(' ');
  if (end == std::string_view::npos) return false;
  const auto number = read_integer(text.substr(0, end), ms_range);
  text.remove_prefix(end + 1);
  into = number.value_or(0);
  return number.has_value();
}

}  // namespace

std::optional<JobNote> read_job_note(std::string_view text) {
  JobNote note;
  if (!read_number(text, note.score) || !read_number(text, note.until_ms)) return std::nullopt;
  const std::size_t end = text.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view mark = text.substr(0, end);
  if (mark.starts_with('r')) {
    const auto until = read_integer(mark.substr(1), ms_range);
    if (!until) return std::nullopt;
    note.held_until = *until;
  } else if (mark == "-" || mark == "n" || mark == "q") {
    note.stalls = mark == "q";
  } else {
    return std::nullopt;
  }
  note.run = text.substr(end + 1);
  return note;
}

}  // namespace w8y::store::thoonk
