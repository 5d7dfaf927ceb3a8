// Which lists this host would run, for programs that only look.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/list_config.hpp"

namespace w8y::app {

/// Probes all at once, and waits for the answers; by prefix.
std::map<std::string, ProbeResult> probe_all(const std::vector<ListConfigPtr>& rules,
                                             Duration timeout);
/// Why this host would refuse the list; empty: it would not.
std::string refusal_of(const ListConfig& rule, const ProbeResult& answer);

}  // namespace w8y::app
