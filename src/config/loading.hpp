// The config file as this program reads it: with Redis URLs looked at closely.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "redis/options.hpp"

namespace w8y::config {

/// Where `w8yd` and `w8yctl` look if nothing else is said.
inline constexpr const char* default_config_path = "/etc/w8y.toml";
/// sysexits.h: EX_CONFIG.
inline constexpr int config_exit = 78;

/// Throws ConfigError. Runs the programs that print lists, and waits for them.
Config load(const std::string& path);
/// The same, for who keeps it: what it takes to read a file of many lists is a multiple of what is
/// kept, and would leave holes between that. So it is read on a thread, whose memory is all given
/// back.
Config load_apart(const std::string& path);
/// As load() but for those programs, whose lists are not known then: for who only wants to know
/// where things are, and may not have the rights of w8yd.
Config load_without_programs(const std::string& path);
/// What programs have printed, by their command lines.
using PrintedLists = std::map<std::vector<std::string>, ConfigHost::File>;
/// As another host reads it, by its name and processors, with its hash. Files that it names are
/// that host's, and are not looked at.
/// Each program that prints lists is run once, and kept in `printed`.
Config load_as(const std::string& path, const std::string& host, unsigned processors,
               PrintedLists& printed);
/// What came of reading the file while another config is in force.
struct LoadResult {
  ConfigPtr config;  ///< nullptr: `errors` says why
  std::vector<std::string> errors;
};
/// With all that a reload needs of a config, so that it may be done on another thread: its hash,
/// and the running config's own rules where they are as they were. Gives back the memory it took.
LoadResult read_beside(const std::string& path, const Config& running) noexcept;
/// Frees a config, if it is the last one to use it, and gives the memory back.
void discard(ConfigPtr config) noexcept;
/// Prints every mistake on standard error, each on a line that starts with `program`.
void print_errors(const char* program, const ConfigError& error);
/// `name` is what CLIENT LIST shows.
redis::ClientOptions client_options(const RedisSettings& settings, const std::string& name);
/// The same for a program without a config file: TLS settings are in its environment. Throws
/// std::invalid_argument if `url` is not a Redis URL.
redis::ClientOptions client_options_of(const std::string& url, const std::string& name);

}  // namespace w8y::config
