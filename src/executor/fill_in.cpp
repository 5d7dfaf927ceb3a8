#include "executor/fill_in.hpp"

namespace w8y::executor {

namespace {

constexpr std::string_view place = "{}";
/// MAX_ARG_STRLEN of Linux, with its final NUL.
constexpr std::size_t longest_string = std::size_t{128} << 10;

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
  const bool has_nul = item.find('\0') != std::string_view::npos;
  argv.reserve(argv.size() + words.size());
  for (const std::string& word : words) {
    if (&word == &words.front() || word.find(place) == std::string::npos) {
      argv.push_back(word);
      continue;
    }
    if (has_nul) return NotStarted{"the item holds a NUL byte and can't be an argument", true};
    argv.push_back(fill_in(word, item));
    if (argv.back().size() >= longest_string)
      return NotStarted{"the item is too long to be an argument", true};
  }
  return std::nullopt;
}

}  // namespace w8y::executor
