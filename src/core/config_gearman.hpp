// The keys of [gearman], and what lists have for it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config_keys.hpp"

namespace w8y::core {

extern const std::span<const Key<GearmanServers>> gearman_keys;

void read_function(const ConfigValue& value, ListConfig& rule);
/// The prefix is the function's name, where it has none of its own.
void check_function(const ConfigValue& list, ListConfig& rule);
/// "; a job of Gearman that fails is over, …": why a list of Gearman has no such key. May be empty.
std::string why_not_in_gearman(std::string_view key);

inline constexpr const char* no_gearman_servers =
    "has source = \"gearman\", and there are no servers to take jobs from; must stand with "
    "[gearman] servers = [\"localhost:4730\"] or such";

}  // namespace w8y::core
