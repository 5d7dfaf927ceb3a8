// Prints when schedules are due, for compare.py. A line of standard input is NOW AFTER,AFTER...
// TEXT, with line feeds written as
// . The output is one line with the next time for each AFTER ("-" = none left), or BAD and the
// reason.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <vector>

#include "schedule/schedule.hpp"

using namespace w8y::schedule;

namespace {

std::string unescaped(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at)
    text.replace(at, 2, "\n");
  return text;
}

enum class Answer { next, zones, nanoseconds };

long nanoseconds(const std::string& text, UnixSeconds now, UnixSeconds after) {
  std::vector<long> taken(1000);
  for (long& one : taken) {
    const auto since = std::chrono::steady_clock::now();
    const Schedule schedule = parse_schedule(text, now);
    if (const auto* recurrence = std::get_if<Recurrence>(&schedule)) recurrence->next_after(after);
    one = std::chrono::nanoseconds(std::chrono::steady_clock::now() - since).count();
  }
  std::nth_element(taken.begin(), taken.begin() + 500, taken.end());
  return taken[500];
}

std::string say(const Recurrence& recurrence, UnixSeconds after, Answer kind) {
  if (kind == Answer::zones) return recurrence.in_zone(after);
  const auto next = recurrence.next_after(after);
  return next ? std::to_string(*next) : "-";
}

void answer(const std::string& question, Answer kind) {
  std::istringstream words(question);
  UnixSeconds now = 0;
  std::string afters, text;
  words >> now >> afters;
  std::getline(words >> std::ws, text);
  text = unescaped(text);
  if (kind == Answer::nanoseconds) {
    std::cout << nanoseconds(text, now, std::stoll(afters)) << '\n';
    return;
  }
  const Schedule schedule = parse_schedule(text, now);
  if (const auto* bad = std::get_if<Bad>(&schedule)) {
    std::cout << "BAD " << bad->why << '\n';
    return;
  }
  const auto* recurrence = std::get_if<Recurrence>(&schedule);
  std::istringstream list(afters);
  for (std::string after; recurrence != nullptr && std::getline(list, after, ',');)
    std::cout << say(*recurrence, std::stoll(after), kind) << ' ';
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  const Answer kind = option == "--zones" ? Answer::zones
                      : option == "--ns"  ? Answer::nanoseconds
                                          : Answer::next;
  for (std::string line; std::getline(std::cin, line);) answer(line, kind);
  return 0;
}
