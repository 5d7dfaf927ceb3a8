// Details that a page shows of another host, in addition to its heartbeat.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace w8y::view {

/// Details of one host that a page requests.
struct HostWish {
  std::string id;
  bool rows = false;         ///< whether its lists are requested
  std::int64_t minutes = 0;  ///< number of the last minutes, at most 60
};

/// Reply to a HostWish. All texts are JSON objects, parsed and bounded.
struct HostDetails {
  std::string id;
  std::vector<std::pair<std::string, std::string>> rows;      ///< by list
  std::vector<std::pair<std::int64_t, std::string>> minutes;  ///< by minute since 1970
};

}  // namespace w8y::view
