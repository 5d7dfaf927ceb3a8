#include "app/ctl/text.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

WallTime wall_now() {
  return std::chrono::duration_cast<WallTime>(std::chrono::system_clock::now().time_since_epoch());
}

std::string time_text(WallTime time) {
  if (time.count() == 0) return {};
  const std::time_t seconds = time.count() / 1000;
  tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return "?";
  const char* format = local.tm_gmtoff == 0 ? "%Y-%m-%d %H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S %z";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &local)};
}

std::string since(WallTime time) {
  if (time.count() == 0) return {};
  return rough_duration(wall_now() - time);
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", number);
  return text.data();
}

std::string running_of_limits(const ops::Json& list) {
  std::string text = std::to_string(number_in(list, "running")) + "/" +
                     std::to_string(number_in(list, "concurrency"));
  if (const auto fleet = number_in(list, "fleet_concurrency"); fleet > 0)
    text += "/" + std::to_string(fleet);
  return text;
}

std::string counted_text(const std::map<std::string, std::size_t>& states,
                         const std::string& noun) {
  std::size_t all = 0;
  std::string each;
  for (const auto& [state, count] : states) {
    all += count;
    each += (each.empty() ? ": " : ", ") + std::to_string(count) + " " + state;
  }
  return std::to_string(all) + " " + noun + (all == 1 ? "" : "s") + each;
}

Cell shaded(const std::string& name) {
  static const std::map<std::string_view, Colour> colours = {
      {"running", Colour::busy},    {"succeeded", Colour::good}, {"free", Colour::good},
      {"failed", Colour::bad},      {"crashed", Colour::bad},    {"timed out", Colour::bad},
      {"quarantined", Colour::bad}, {"lost", Colour::bad},       {"unavailable", Colour::bad},
      {"starved", Colour::bad},     {"cancelled", Colour::poor}, {"resting", Colour::poor},
      {"refused", Colour::poor},    {"paused", Colour::poor},    {"quiet", Colour::poor},
      {"draining", Colour::poor},   {"stopping", Colour::poor},
  };
  const auto found = colours.find(name);
  return {escape(name), found == colours.end() ? Colour::none : found->second};
}

std::string text_in(const ops::Json& object, const char* name) {
  return escape(raw_in(object, name));
}

std::string said_in(const ops::Json& object, const char* name) {
  std::string text = text_in(object, name);
  for (std::size_t at = 0; (at = text.find("\\\\", at)) != std::string::npos; ++at)
    text.erase(at, 1);
  return text;
}

std::string progress_in(const ops::Json& object) {
  if (!object.is_object()) return {};
  const auto numerator = object.find("numerator");
  const auto denominator = object.find("denominator");
  if (numerator == object.end() || !numerator->is_number()) return {};
  if (denominator == object.end() || !denominator->is_number()) return {};
  return number_text(numerator->get<double>()) + " of " + number_text(denominator->get<double>());
}

std::string shown_in(const ops::Json& object, const char* name) {
  const auto bytes = ops::get_bytes(object, name);
  return bytes ? escape_text(*bytes) : "?";
}

std::string item_in(const ops::Json& object) {
  const auto bytes = ops::get_bytes(object, "item");
  if (!bytes) return "?";
  const std::int64_t length = number_in(object, "item_length");
  return item_text({*bytes, length > 0 ? static_cast<std::size_t>(length) : bytes->size()});
}

void add_problems(Facts& facts, const ops::Json& answer) {
  const char* name = "wrong";
  for (const auto& problem : array_in(answer, "problems")) {
    const std::string kind = text_in(problem, "kind");
    const bool by_hand = kind == "paused" || kind == "quiet" || kind == "draining";
    facts.add(name, {said_in(problem, "text"), by_hand ? Colour::poor : Colour::bad});
    name = "";
  }
}

std::string record_text(const Options& options, std::string_view bytes) {
  const bool as_it_is = options.raw || !is_terminal();
  return as_it_is ? std::string(bytes) : escape(bytes, std::string_view::npos);
}

void print_line(std::string_view line) {
  std::cout << escape_line(line) << '\n';
}

void print_json(const ops::Json& json) {
  std::cout << ops::dump(json) << '\n';
}

}  // namespace w8y::app::ctl
