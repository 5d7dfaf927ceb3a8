// Finds the lists that this host would serve, for programs that serve none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/list_config.hpp"

namespace w8y::app {

/// Probes all lists at once and waits for the results; by prefix.
std::map<std::string, ProbeResult> probe_all(const std::vector<ListConfigPtr>& rules,
                                             Duration timeout);
/// Returns why this host would be ineligible for the list; empty: it would not.
std::string refusal_of(const ListConfig& rule, const ProbeResult& answer);

}  // namespace w8y::app
