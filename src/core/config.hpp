// From TOML files to a Config, or to every mistake in them at once.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/list_config.hpp"

namespace w8y {

/// One mistake: `file:line:column: key: what is wrong, and what would be right`.
struct ConfigDiagnostic {
  std::string file;
  std::size_t line = 0;    ///< from 1; 0: the file as a whole
  std::size_t column = 0;  ///< from 1
  std::string key;         ///< "lists.work.concurrency"; may be empty
  std::string text;

  [[nodiscard]] std::string to_string() const;
};

/// Thrown with every mistake that was found, in the order of the files; never empty.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<ConfigDiagnostic> errors);
  [[nodiscard]] const std::vector<ConfigDiagnostic>& errors() const { return errors_; }

 private:
  std::vector<ConfigDiagnostic> errors_;
};

/// Where files come from and what this host is: replaced in tests.
class ConfigHost {
 public:
  virtual ~ConfigHost() = default;
  struct File {
    std::string text;
    std::string problem;  ///< not empty: why there is no text ("not found", "is a directory", …)
  };
  /// Refuses files over 16 MiB and, as root, files that others than root can write. "-" is standard
  /// input.
  virtual File read(const std::string& path) = 0;
  /// What a program prints (lists_from): its output, or why there is none ("exits with status 1:
  /// …", "is not there"). nullopt: this reader does without.
  virtual std::optional<File> run(const std::vector<std::string>& /*command*/,
                                  Duration /*timeout*/) {
    return std::nullopt;
  }
  /// Paths that match a glob pattern, sorted.
  virtual std::vector<std::string> glob(const std::string& pattern) = 0;
  virtual std::string hostname() = 0;
  /// Not empty: the name of another host, whose view of the files is wanted, whatever they say.
  virtual std::string other_host() { return {}; }
  /// $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR …; empty if not set.
  virtual std::string variable(const std::string& name) = 0;
  virtual bool is_root() = 0;
  /// How many processors this process may use: its affinity, and the quota of its control groups,
  /// rounded down; at least 1.
  virtual unsigned processors() { return 1; }
  /// Why the file can't be looked at: "not found", …; empty: it can.
  virtual std::string missing(const std::string& path) = 0;
  /// Why root can't rely on the file; empty: it can. Nobody but root may be able to write the file,
  /// or the folders above it where there are any. A file that is not there is judged by where it
  /// would stand. Asked only of files that a config names, and only as root.
  virtual std::string distrust(const std::string& path) = 0;
  /// The mode of a file that every user can read, in octal ("0644"); empty: others cannot read it.
  virtual std::string exposed(const std::string& /*path*/) { return {}; }
  /// What is wrong with a Redis URL, and what would be right; empty: nothing. Must not show the
  /// URL, which may hold a password. Core knows no more of a URL than its scheme.
  virtual std::string url_problem(const std::string& url);
  /// What is wrong with the token in a file; empty: nothing, or this user may not read it.
  virtual std::string token_problem(const std::string& /*path*/) { return {}; }
};

/// The real one: derive from it to look closer at URLs.
class SystemConfigHost : public ConfigHost {
 public:
  File read(const std::string& path) override;
  std::vector<std::string> glob(const std::string& pattern) override;
  std::string hostname() override;
  std::string variable(const std::string& name) override;
  bool is_root() override;
  unsigned processors() override;
  std::string missing(const std::string& path) override;
  std::string distrust(const std::string& path) override;
  std::string exposed(const std::string& path) override;
  std::string token_problem(const std::string& path) override;
};
ConfigHost& system_config_host();

/// Where the status API listens if the config does not say. As root: `unix:/run/w8y/w8yd.sock`. For
/// another user, $RUNTIME_DIRECTORY takes the place of `/run`, else $XDG_RUNTIME_DIR. A
/// $RUNTIME_DIRECTORY that itself ends in `/w8y` is taken as it is: systemd makes such a one of
/// `RuntimeDirectory=w8y`. If it names several folders, the first counts.
std::string default_status(ConfigHost& host);

/// `name` is what stands before the line number ("/etc/w8y.toml", "<stdin>"). Throws ConfigError.
Config parse_config(std::string_view text, const std::string& name, ConfigHost& host);
/// Reads `path` ("-": standard input) and all that it includes. Throws ConfigError.
Config load_config(const std::string& path, ConfigHost& host);

/// A key that a config file may have: what the sample and the schema are checked against.
struct KnownKey {
  std::string section;  ///< "" (top level), "redis", "supervisor", "lists", "lists.backoff", …
  std::string name;
  std::string fallback;  ///< the default in TOML; empty: none
};
std::vector<KnownKey> known_keys();

}  // namespace w8y
