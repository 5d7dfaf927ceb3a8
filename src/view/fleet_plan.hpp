// What another config would change on a host of the fleet, by what that host last told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/list_config.hpp"
#include "core/reload_plan.hpp"
#include "view/fleet.hpp"

namespace w8y {

/// What a host would do with a list.
struct ListVerdict {
  enum class Kind {
    runs,
    disabled,
    refused,
    unknown,  ///< its program has not been looked for there
    gone,     ///< it is in the config no more
  };
  std::string prefix;
  Kind kind = Kind::runs;
  std::string why;       ///< refused, unknown
  bool changed = false;  ///< the host does something else with it now
};
const char* verdict_name(ListVerdict::Kind kind);

struct HostPlan {
  bool same = false;                  ///< it has this very config
  ReloadPlan changes;                 ///< of what a host tells: limits, and which program
  std::vector<ListVerdict> verdicts;  ///< by prefix

  /// A line per change, for people.
  [[nodiscard]] std::vector<std::string> lines() const;
};

/// Whether a program with these caps can serve the rule: empty, or why not.
using WhyNot = std::function<std::string(const ListConfig& rule, const Caps& caps)>;
/// `config`: as that host reads it, with its hash.
HostPlan plan_host(const FleetHost& host, const Config& config, const WhyNot& why_not);

}  // namespace w8y
