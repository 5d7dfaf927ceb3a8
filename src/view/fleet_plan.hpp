// Changes that another config would cause on a host of the fleet, according to its heartbeat and
// list reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/list_config.hpp"
#include "core/reload_plan.hpp"
#include "view/fleet.hpp"

namespace w8y {

/// Effect of a config on one list of a host.
struct ListVerdict {
  enum class Kind {
    runs,
    disabled,
    refused,
    unknown,  ///< the host has not probed its program
    gone,     ///< the list is not in the config
  };
  std::string prefix;
  Kind kind = Kind::runs;
  std::string why;       ///< reason for refused or unknown
  bool changed = false;  ///< whether the current state on the host is different
};
const char* verdict_name(ListVerdict::Kind kind);

struct HostPlan {
  bool same = false;                  ///< whether the host already has this config
  ReloadPlan changes;                 ///< for the reported settings only: limits and the program
  std::vector<ListVerdict> verdicts;  ///< by prefix

  /// Returns one line per change, as text for the operator.
  [[nodiscard]] std::vector<std::string> lines() const;
};

/// Returns why a program with these capabilities cannot serve the list; empty: it can.
using WhyNot = std::function<std::string(const ListConfig& rule, const Caps& caps)>;
/// `config`: as that host reads it, with its hash.
HostPlan plan_host(const FleetHost& host, const Config& config, const WhyNot& why_not);

}  // namespace w8y
