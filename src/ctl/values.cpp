#include "ctl/values.hpp"

#include <ctime>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "ctl/failure.hpp"

namespace w8y::ctl {

namespace {

/// `near`: near_hint(), if the value is a name.
Failure needs(const char* option, const std::string& what, const std::string& text,
              const std::string& near = {}) {
  return {wrong_usage,
          std::string(option) + " needs " + what + ", not " + escape_text(text) + near};
}

/// nullopt: the text has another format.
std::optional<WallTime> time_in(const std::string& text, const char* format, bool utc) {
  tm parts{};
  parts.tm_isdst = -1;
  const char* end = strptime(text.c_str(), format, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::time_t seconds = utc ? timegm(&parts) : mktime(&parts);
  return WallTime(std::int64_t{seconds} * 1000);
}

}  // namespace

WallTime moment_of(const char* option, const std::string& text, WallTime now) {
  for (const char* format : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d %H:%M:%S UTC"})
    if (const auto time = time_in(text, format, true)) return *time;
  for (const char* format :
       {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"})
    if (const auto time = time_in(text, format, false)) return *time;
  if (const auto ago = parse_duration(text))
    return now - std::chrono::duration_cast<WallTime>(*ago);
  throw needs(option, "a duration, such as 2h, or a time, such as 2026-01-31T12:00:00Z", text);
}

std::string prefix_of(std::string word) {
  if (!word.empty() && word.back() == ':') word.pop_back();
  return word;
}

std::string decoded(std::string word, const char* option) {
  auto bytes = base64_decode(word);
  if (bytes) return std::move(*bytes);
  throw Failure(wrong_usage, escape_text(word) + " is not base64, which " + option + " requires");
}

Duration duration_of(const char* option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration && *duration >= std::chrono::milliseconds(1)) return *duration;
  throw needs(option, "a duration, such as 90s or 1h30m", text);
}

std::size_t number_of(const char* option, const std::string& text, std::size_t most) {
  const auto number = read_integer(text, {1, static_cast<std::int64_t>(most)});
  if (number) return static_cast<std::size_t>(*number);
  throw needs(option, "a number from 1 to " + std::to_string(most), text);
}

std::string one_of(const char* option, const std::string& text,
                   std::initializer_list<const char*> choices) {
  std::string all;
  std::size_t left = choices.size();
  for (const char* choice : choices) {
    if (text == choice) return text;
    all += (all.empty() ? "" : left == 1 ? " or " : ", ") + std::string(choice);
    --left;
  }
  throw needs(option, all, text, core::near_hint(text, {choices.begin(), choices.end()}));
}

std::string item_state_of(const std::string& text) {
  return one_of("--state", text, {"free", "running", "delayed", "quarantined"});
}

std::string any_item_state_of(const std::string& text) {
  return one_of("--state", text,
                {"free", "running", "delayed", "quarantined", "queued", "scheduled", "finished",
                 "stopped", "bad", "died", "orphaned", "claimed", "stalled"});
}

void declare_prefix(Arguments& words, const char* what, std::string& into) {
  words.one("LIST", what, [&into](Argument&& word) { into = prefix_of(std::move(word.text)); });
}

void declare_prefix_or_none(Arguments& words, const char* what, std::optional<std::string>& into) {
  words.one_or_none("LIST", what,
                    [&into](Argument&& word) { into = prefix_of(std::move(word.text)); });
}

void declare_reason(Arguments& words, std::string& into) {
  words.option("--reason", "TEXT", "a text", "Reason, shown with operator and time",
               [&into](Argument&& word) { into = std::move(word.text); });
}

void declare_raw(Arguments& words, Options& options) {
  words.flag("--raw", "Print bytes unescaped, even to a terminal", options.raw);
}

void declare_limit(Arguments& words, const char* what, std::size_t& into) {
  words.option("--limit", "N", "a number", what,
               [&into](Argument&& word) { into = number_of("--limit", word.text, max_shown); });
}

void ItemArguments::add(Argument&& word) {
  items.push_back(base64 ? decoded(std::move(word.text)) : std::move(word.text));
}

void ItemArguments::declare(Arguments& words, bool or_none) {
  words.flag("--base64", "Items are given in base64", base64);
  const auto take = [this](Argument&& word) { this->add(std::move(word)); };
  if (or_none) {
    words.any_number("ITEM", "Items", take);
  } else {
    words.many("ITEM", "Items", take);
  }
}

void ItemArguments::declare_option(Arguments& words, const char* what) {
  words.flag("--base64", "The item is given in base64", base64);
  words.option("--item", "ITEM", "an item", what,
               [this](Argument&& word) { add(std::move(word)); });
  words.then([this] {
    if (base64 && items.empty()) throw Failure(wrong_usage, "--base64 needs an --item");
  });
}

}  // namespace w8y::ctl
