// The config file as the programs read it, with parsed Redis URLs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "redis/options.hpp"

namespace w8y::config {

/// Path that `w8yd` and `w8yctl` use by default.
inline constexpr const char* default_config_path = "/etc/w8y.toml";
/// sysexits.h: EX_CONFIG.
inline constexpr int config_exit = 78;

/// Reads a config. Runs the programs that print lists and waits for them. Throws ConfigError.
Config load(const std::string& path);
/// Reads a config on a separate thread and frees all memory of that thread, for programs that keep
/// the config. Reading a file of many lists takes several times the memory of the config, and would
/// leave holes in the heap.
Config load_apart(const std::string& path);
/// Reads a config without running programs that print lists, so their lists are missing. For
/// programs that need only addresses of servers, and may not have the permissions of w8yd.
Config load_without_programs(const std::string& path);
/// Output of programs, by command line.
using PrintedLists = std::map<std::vector<std::string>, ConfigHost::File>;
/// Reads a config as another host would, and sets its hashes. The other host has the name `host`
/// and `processors` processors. Files that the config names are on that host, and are not checked.
/// If `printed` has the output of a program that prints lists, it is used; otherwise the program is
/// run and its output is added to `printed`.
Config load_as(const std::string& path, const std::string& host, unsigned processors,
               PrintedLists& printed);
/// Result of read_beside().
struct LoadResult {
  ConfigPtr config;  ///< nullptr: `errors` has the reasons
  std::vector<std::string> errors;
};
/// Reads a config for a reload, and sets its hash. Unchanged list configs are shared with the
/// running config. Callable from any thread. Frees the memory that it used.
LoadResult read_beside(const std::string& path, const Config& running) noexcept;
/// Deletes a config if this is the last reference, and returns the memory to the system.
void discard(ConfigPtr config) noexcept;
/// Prints each error to standard error, on a line that starts with `program`.
void print_errors(const char* program, const ConfigError& error);
/// Options for the Redis connection of a config. `name` is shown by CLIENT LIST.
redis::ClientOptions client_options(const RedisSettings& settings, const std::string& name);
/// Options for a program without a config file: TLS settings are in the environment. Throws
/// std::invalid_argument if `url` is not a Redis URL.
redis::ClientOptions client_options_of(const std::string& url, const std::string& name);

}  // namespace w8y::config
