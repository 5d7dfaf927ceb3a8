// Traffic of the connections of one thread to Redis, for metrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/histogram.hpp"

namespace w8y::redis {

struct Traffic {
  CallTimes replied;  ///< from a command to its reply
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  /// Number of calls by name of the script or command.
  std::vector<std::pair<std::string, std::uint64_t>> commands;

  void count(std::string_view kind) {
    for (auto& [known, number] : commands) {
      if (known != kind) continue;
      ++number;
      return;
    }
    if (commands.size() < max_kinds) commands.emplace_back(kind, 1);
  }
  static constexpr std::size_t max_kinds = 200;
};

/// Traffic of all connections of this thread.
Traffic& traffic();

}  // namespace w8y::redis
