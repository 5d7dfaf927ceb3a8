#include "operator/cursor.hpp"

#include <algorithm>
#include <optional>

#include "core/base64.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

namespace {

[[noreturn]] void refuse_cursor() {
  throw QueryError(400, "?after= must be the `next` value of a response to the same query");
}

/// Separator of fields. It also ends the kind, since one kind may start with another ("run",
/// "runs").
constexpr char between_fields = '.';

std::string url_text(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.erase(text.find_last_not_of('=') + 1);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::optional<std::string> url_bytes(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  text.append((4 - text.size() % 4) % 4, '=');
  return base64_decode(text);
}

}  // namespace

std::string make_cursor(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) {
    if (!text.empty()) text += between_fields;
    text += url_text(field);
  }
  return text;
}

std::vector<std::string> read_cursor(const std::string& text, std::string_view kind,
                                     std::size_t fields) {
  std::vector<std::string> read;
  if (text.empty()) return read;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between_fields, at), text.size());
    auto field = url_bytes(text.substr(at, end - at));
    if (!field) refuse_cursor();
    read.push_back(std::move(*field));
    at = end + 1;
  }
  if (read.front() != kind || read.size() != fields + 1) refuse_cursor();
  read.erase(read.begin());
  return read;
}

std::int64_t cursor_number(const std::string& field, IntegerRange range) {
  const auto number = read_integer(field, range);
  if (!number) refuse_cursor();
  return *number;
}

}  // namespace w8y::verbs
