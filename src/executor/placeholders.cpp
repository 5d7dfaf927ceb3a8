#include "executor/placeholders.hpp"

namespace w8y::executor {

namespace {

constexpr std::string_view place = "{}";

}  // namespace

std::string fill_in(std::string_view text, std::string_view item) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(place);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += item;
    text.remove_prefix(at + place.size());
  }
}

std::optional<NotStarted> fill_in(const std::vector<std::string>& words, std::string_view item,
                                  std::vector<std::string>& argv) {
  argv.reserve(argv.size() + words.size());
  for (const std::string& word : words) {
    if (&word == &words.front() || word.find(place) == std::string::npos) {
      argv.push_back(word);
      continue;
    }
    argv.push_back(fill_in(word, item));
    if (auto why_not = no_argument("the item", argv.back())) return why_not;
  }
  return std::nullopt;
}

std::optional<NotStarted> no_argument(std::string_view what, std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    return NotStarted{std::string(what) + " contains a NUL byte and cannot be an argument", true};
  if (text.size() >= max_string)
    return NotStarted{std::string(what) + " is too long to be an argument", true};
  return std::nullopt;
}

}  // namespace w8y::executor
