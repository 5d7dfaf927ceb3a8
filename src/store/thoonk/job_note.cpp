#include "store/thoonk/job_note.hpp"

#include <charconv>

namespace w8y::store::thoonk {

namespace {

bool read_number(std::string_view& text, std::int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<JobNote> read_job_note(std::string_view text) {
  JobNote note;
  if (!read_number(text, note.score) || !read_number(text, note.until_ms)) return std::nullopt;
  if (text.starts_with('r')) {
    text.remove_prefix(1);
    if (!read_number(text, note.held_until.emplace())) return std::nullopt;
  } else if (text.starts_with("- ") || text.starts_with("q ")) {
    note.stalls = text.starts_with('q');
    text.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  note.run = text;
  return note;
}

}  // namespace w8y::store::thoonk
