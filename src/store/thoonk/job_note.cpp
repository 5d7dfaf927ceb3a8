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
  if (text.starts_with('r')) {
    text.remove_prefix(1);
    if (!read_number(text, note.held_until.emplace())) return std::nullopt;
  } else if (text.starts_with("- ") || text.starts_with("n ") || text.starts_with("q ")) {
    note.stalls = text.starts_with('q');
    text.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  note.run = text;
  return note;
}

}  // namespace w8y::store::thoonk
