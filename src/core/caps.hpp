// The reply of an executor to `--caps`, or the reason why this host is ineligible for the list.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace w8y {

/// Capabilities of an executor.
struct Caps {
  std::vector<std::string> caps;  ///< "single", "stream", and capabilities that the user defines
  unsigned concurrency = 1;       ///< number of items that one `stream` process runs at once
  std::string version;            ///< shown to operators; may be empty

  [[nodiscard]] bool has(const std::string& cap) const;
  bool operator==(const Caps&) const = default;
};

/// Why this host cannot serve a list. Normal in a fleet: other hosts serve the list. The reason is
/// a phrase for people, such as "not found", "exit status 3", "bad JSON at byte 12".
struct Ineligibility {
  std::string reason;
  /// True if the program is not the cause: this host lacks a directory, file, account or limit that
  /// the list names.
  bool of_host = false;
};

using ProbeResult = std::variant<Caps, Ineligibility>;

/// Parses the output of `--caps`. The reason of an Ineligibility names the error and its position.
ProbeResult parse_caps(const std::string& output);

}  // namespace w8y
