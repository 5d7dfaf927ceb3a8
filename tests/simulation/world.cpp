#include "simulation/world.hpp"

#include <algorithm>
#include <cstdio>

namespace w8y::sim {

std::string brief(const std::string& text) {
  constexpr std::size_t whole = 80, beginning = 30;
  if (text.size() <= whole) return text;
  // Items differ at their start or at their end.
  constexpr std::size_t end = 1024;
  const std::string_view all = text;
  const std::uint64_t hash = hash_of(all.substr(0, end)) ^
                             hash_of(all.substr(all.size() - std::min(end, all.size()))) * 31;
  return text.substr(0, beginning) + "..." + std::to_string(hash) + '+' +
         std::to_string(text.size());
}

void World::run_until(Instant end) {
  while (!stopped_) {
    const auto next = queue_.next();
    if (!next || *next > end) break;
    now_ = std::max(now_, *next);
    queue_.run_due(now_);
  }
  if (!stopped_) now_ = std::max(now_, end);
}

std::string World::to_text(const Line& line) {
  const auto us = (line.at - beginning).count();
  char time[32];
  std::snprintf(time, sizeof time, "%5lld.%06lld", static_cast<long long>(us / 1'000'000),
                static_cast<long long>(us % 1'000'000));
  return std::string(time) + ' ' + line.who + (line.about.empty() ? "" : " [" + line.about + ']') +
         ": " + line.text;
}

}  // namespace w8y::sim
