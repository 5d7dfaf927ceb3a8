// What an executor says it can do (`--caps`), or why this host can't use it.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace w8y {

struct Caps {
  std::vector<std::string> caps;  ///< "single", "stream", and the user's own
  unsigned concurrency = 1;       ///< items that one `stream` process takes at once
  std::string version;            ///< shown to operators; may be empty

  [[nodiscard]] bool has(const std::string& cap) const;
  bool operator==(const Caps&) const = default;
};

/// Normal in a fleet: this host leaves the list to others. The reason is a phrase for people, such
/// as "not found", "exit status 3", "bad JSON at byte 12".
struct Ineligibility {
  std::string reason;
  /// Not the program: a folder, file, account or limit that the list names is not to be had here.
  bool of_host = false;
};

using ProbeResult = std::variant<Caps, Ineligibility>;

/// Reads the answer to `--caps`. A refusal says what is wrong with it and where.
ProbeResult parse_caps(const std::string& output);

}  // namespace w8y
