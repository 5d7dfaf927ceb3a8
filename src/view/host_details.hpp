// What a page shows of another host besides its heartbeat.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace w8y::view {

/// What a page needs of one host.
struct HostWish {
  std::string id;
  bool rows = false;         ///< its lists
  std::int64_t minutes = 0;  ///< the last minutes, up to 60
};

/// The reply to a HostWish. All texts are JSON objects, parsed and bounded.
struct HostDetails {
  std::string id;
  std::vector<std::pair<std::string, std::string>> rows;      ///< by list
  std::vector<std::pair<std::int64_t, std::string>> minutes;  ///< by minute since 1970
};

}  // namespace w8y::view
