// The config file as this program reads it: with Redis URLs looked at closely.
#pragma once

#include <string>

#include <w8y/config.hpp>

#include "redis/options.hpp"

namespace w8y::app {

/// Where `w8yd` and `w8yctl` look if nothing else is said.
inline constexpr const char* default_config_path = "/etc/w8y.toml";
/// sysexits.h: EX_CONFIG.
inline constexpr int config_exit = 78;

/// Throws ConfigError.
Config load(const std::string& path);
/// Prints every mistake on standard error, each on a line that starts with `program`.
void print_mistakes(const char* program, const ConfigError& error);
/// `name` is what CLIENT LIST shows.
redis::ClientOptions client_options(const RedisSettings& settings, const std::string& name);

}  // namespace w8y::app
