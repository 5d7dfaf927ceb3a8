// Says when schedules are due, for compare.py. A line of standard input is NOW AFTER,AFTER... TEXT,
// with line feeds written as \n; the answer is a line with the next time for each AFTER, "-" where
// none is left, or BAD and why.
#include <algorithm>
#include <iostream>
#include <sstream>

#include "schedule/schedule.hpp"

using namespace w8y::schedule;

namespace {

std::string unescaped(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at)
    text.replace(at, 2, "\n");
  return text;
}

void answer(const std::string& question) {
  std::istringstream words(question);
  UnixSeconds now = 0;
  std::string afters, text;
  words >> now >> afters;
  std::getline(words >> std::ws, text);
  const Schedule schedule = parse_schedule(unescaped(text), now);
  if (const auto* bad = std::get_if<Bad>(&schedule)) {
    std::cout << "BAD " << bad->why << '\n';
    return;
  }
  const auto* recurrence = std::get_if<Recurrence>(&schedule);
  std::istringstream list(afters);
  for (std::string after; recurrence != nullptr && std::getline(list, after, ',');) {
    const auto next = recurrence->next_after(std::stoll(after));
    std::cout << (next ? std::to_string(*next) : "-") << ' ';
  }
  std::cout << '\n';
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) answer(line);
  return 0;
}
