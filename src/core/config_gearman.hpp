// The keys of [gearman], and the keys of lists of Gearman.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config_keys.hpp"

namespace w8y::core {

extern const std::span<const Key<GearmanServers>> gearman_keys;

void read_function(const ConfigValue& value, std::string& function);
/// If the list sets no function, sets `function` to `prefix`, the name of the list. Reports an
/// error if that name cannot be the name of a function.
void check_function(const ConfigValue& list, const std::string& prefix, std::string& function);
/// Returns why a list of Gearman does not have a key: "; a job of Gearman that fails is over, …".
/// May be empty.
std::string why_not_in_gearman(std::string_view key);

inline constexpr const char* no_gearman_servers =
    "has source = \"gearman\", but the config has no servers; set servers in [gearman], such as "
    "servers = [\"localhost:4730\"]";

}  // namespace w8y::core
