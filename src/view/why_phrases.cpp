#include "view/why_phrases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <utility>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

/// Maximum number of names in a sentence.
constexpr std::size_t max_named = 5;

}  // namespace

std::string name_all(const std::vector<std::string>& names) {
  const std::size_t told = names.size() > max_named ? max_named - 1 : names.size();
  std::string text;
  for (std::size_t i = 0; i < told; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + escape_text(names[i]);
  }
  if (told < names.size()) text += " and " + std::to_string(names.size() - told) + " others";
  return text;
}

std::string count_word(std::size_t count) {
  constexpr std::array words{"No",    "One",   "Two",  "Three", "Four",   "Five",  "Six",
                             "Seven", "Eight", "Nine", "Ten",   "Eleven", "Twelve"};
  return count < words.size() ? words[count] : std::to_string(count);
}

std::string count_of(std::size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string time_text(const WhyList& list, WallTime time) {
  if (list.time_text != nullptr) return list.time_text(time);
  const std::time_t seconds = time.count() / 1000;
  tm utc{};
  std::array<char, 64> text{};
  if (gmtime_r(&seconds, &utc) == nullptr) return "?";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string at_and_in(const WhyList& list, WallTime time) {
  return "at " + time_text(list, time) + ", in " + rough_duration(time - list.now);
}

std::string since_text(const WhyList& list, WallTime time) {
  return "since " + time_text(list, time) + ", for " + rough_duration(list.now - time);
}

std::string list_text(const WhyList& list) {
  return escape_text(list.name);
}

std::string list_argument(const WhyList& list) {
  return shell_argument(list.name);
}

std::string schedule_argument(const WhyList& list) {
  return shell_argument(list.key_prefix.value_or(list.name));
}

std::string ended(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text + ".";
}

WhySentence sentence(const char* kind, std::string text) {
  return {kind, std::move(text), {}, {}, {}};
}

std::vector<WhySentence> last_change(const WhyList& list, const WhyItem& item) {
  constexpr std::string_view usual[] = {"added", "set"};
  if (!item.last_change || item.last_change->change.empty() ||
      std::ranges::count(usual, item.last_change->change) > 0 ||
      (item.state == "quarantined" && item.last_change->change == "quarantined"))
    return {};
  const view::ItemChange& last = *item.last_change;
  std::string text = escape(last.change) + " by " + escape(last.by);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  text += " " + rough_duration(std::max(WallTime{0}, list.now - last.time)) + " ago";
  if (!last.reason.empty()) text += ": " + escape(last.reason);
  WhySentence told = sentence("changed", ended(std::move(text)));
  told.texts = {{"change", last.change}, {"by", last.by}};
  told.numbers["time_ms"] = last.time.count();
  return {std::move(told)};
}

}  // namespace w8y::core

namespace w8y {

namespace {

constexpr char time_mark = '\x1e';

}  // namespace

std::string marked_time(WallTime time) {
  return time_mark + std::to_string(time.count()) + time_mark;
}

std::string with_times(std::string_view text, std::string (*time_text)(WallTime time)) {
  std::string shown;
  while (true) {
    const auto begin = text.find(time_mark);
    const auto end = begin == text.npos ? text.npos : text.find(time_mark, begin + 1);
    if (end == text.npos) return shown.append(text);
    shown.append(text.substr(0, begin));
    if (const auto time = read_ms(text.substr(begin + 1, end - begin - 1)))
      shown += time_text(*time);
    text.remove_prefix(end + 1);
  }
}

}  // namespace w8y
