#include "ctl/text.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y::ctl {

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

std::string duration_text(const view::RunRecord& run) {
  return run.started() ? format_duration(*run.ended - *run.started()) : std::string();
}

std::string memory_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < units.size(); ++unit) number /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit > 0 && number < 99.95 ? "%.1f %s" : "%.0f %s",
                number, units[unit]);
  return text.data();
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", number);
  return text.data();
}

std::string running_of_limits(const ListStatus& list) {
  std::string text = std::to_string(list.running) + "/" + std::to_string(list.concurrency);
  if (list.fleet_concurrency > 0) text += "/" + std::to_string(list.fleet_concurrency);
  return text;
}

int problem_rank(const ListTotals& totals, const ListStatus& list) {
  const ListState state = totals.state;
  if (state == ListState::unavailable || state == ListState::starved ||
      state == ListState::breaker_open)
    return 0;
  if (list.quarantined.value_or(0) > 0) return 1;
  if (state == ListState::ineligible || state == ListState::paused) return 2;
  return no_problem;
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
      {"running", Colour::busy},    {"succeeded", Colour::good},   {"free", Colour::good},
      {"failed", Colour::bad},      {"crashed", Colour::bad},      {"timed out", Colour::bad},
      {"quarantined", Colour::bad}, {"lost", Colour::bad},         {"unavailable", Colour::bad},
      {"starved", Colour::bad},     {"breaker_open", Colour::bad}, {"cancelled", Colour::poor},
      {"delayed", Colour::poor},    {"ineligible", Colour::poor},  {"paused", Colour::poor},
      {"quiet", Colour::poor},      {"draining", Colour::poor},    {"stopping", Colour::poor},
  };
  const auto found = colours.find(name);
  return {escape(name), found == colours.end() ? Colour::none : found->second};
}

std::string outcome_text(const std::string& told) {
  std::string text = escape(told);
  for (std::size_t at = 0; (at = text.find("\\\\", at)) != std::string::npos; ++at)
    text.erase(at, 1);
  return text;
}

std::string progress_text(const std::optional<Progress>& progress) {
  if (!progress) return {};
  return number_text(progress->numerator) + " of " + number_text(progress->denominator);
}

std::string capabilities_text(const std::vector<std::string>& caps) {
  std::string text;
  for (const auto& cap : caps) text += (text.empty() ? "" : " ") + escape_text(cap);
  return text;
}

void add_omitted(KeyValueTable& facts, const FleetSummary& fleet) {
  if (!fleet.error.empty())
    facts.add("fleet", {"only this host is counted: " + escape(fleet.error), Colour::poor});
  if (fleet.omitted > 0)
    facts.add("fleet", {std::to_string(fleet.omitted) + (fleet.omitted == 1 ? " host" : " hosts") +
                            " not counted completely: too many lists, or not readable",
                        Colour::poor});
}

bool is_by_operator(const ShownProblem& problem) {
  return problem.kind == "paused" || problem.kind == "quiet" || problem.kind == "draining";
}

void add_problems(KeyValueTable& facts, const std::vector<ShownProblem>& problems) {
  const char* name = "problems";
  for (const ShownProblem& problem : problems) {
    facts.add(name,
              {outcome_text(problem.text), is_by_operator(problem) ? Colour::poor : Colour::bad});
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

void print_json(const view::JsonFields& json) {
  std::cout << json.whole() << '\n';
}

void print_json(const std::string& json) {
  std::cout << json << '\n';
}

void print_json(const char* name, core::JsonArray& array) {
  core::AsciiObject json;
  json.put_json(name, array.finish());
  print_json(json.finish());
}

void print_each(const std::vector<std::string>& lists, bool one) {
  if (one) return print_json(lists.front());
  core::JsonArray all;
  for (const std::string& list : lists) all.add(list);
  print_json("lists", all);
}

}  // namespace w8y::ctl
