// Reads TOML files into a Config, or reports all errors in them at once.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/list_config.hpp"

namespace w8y {

/// One config error, shown as `file:line:column: key: what is wrong; what is valid`.
struct ConfigDiagnostic {
  std::string file;
  std::size_t line = 0;    ///< from 1; 0 = the whole file
  std::size_t column = 0;  ///< from 1
  std::string key;         ///< "lists.work.concurrency"; may be empty
  std::string text;

  [[nodiscard]] std::string to_string() const;
};

/// Thrown with all errors found, in the order of the files; never empty.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<ConfigDiagnostic> errors);
  [[nodiscard]] const std::vector<ConfigDiagnostic>& errors() const { return errors_; }

 private:
  std::vector<ConfigDiagnostic> errors_;
};

/// Access to files and to properties of the host. Replaced in tests.
class ConfigHost {
 public:
  virtual ~ConfigHost() = default;
  struct File {
    std::string text;
    std::string problem;  ///< why the file could not be read ("not found", "is a directory", …);
                          ///< empty = it could
  };
  /// Reads a file. Rejects files over 16 MiB and, as root, files that users other than root can
  /// write. "-" is standard input.
  virtual File read(const std::string& path) = 0;
  /// Runs a program of [[lists_from]]. Returns its output, or the reason why there is none ("exits
  /// with status 1: …", "is not there"). nullopt if this reader does not run programs.
  virtual std::optional<File> run(const std::vector<std::string>& /*command*/,
                                  Duration /*timeout*/) {
    return std::nullopt;
  }
  /// Returns the paths that match a glob pattern, sorted.
  virtual std::vector<std::string> glob(const std::string& pattern) = 0;
  virtual std::string hostname() = 0;
  /// Returns the name of another host if the config is read as that host reads it, regardless of
  /// `host` in the files. Empty = this host.
  virtual std::string other_host() { return {}; }
  /// Returns an environment variable, such as $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR; empty if not
  /// set.
  virtual std::string variable(const std::string& name) = 0;
  virtual bool is_root() = 0;
  /// Returns the number of processors that this process may use: its affinity and the quota of its
  /// control groups, rounded down; at least 1.
  virtual unsigned processors() { return 1; }
  /// Returns why the file cannot be accessed: "not found", …; empty if it can.
  virtual std::string missing(const std::string& path) = 0;
  /// Returns why root cannot rely on the file; empty if it can. Only root may be able to write the
  /// file and the directories above it. A file that does not exist is classified by its directory.
  /// Called only as root and for files that a config names.
  virtual std::string distrust(const std::string& path) = 0;
  /// Returns the mode of the file in octal ("0644") if every user can read it; empty if others
  /// cannot.
  virtual std::string exposed(const std::string& /*path*/) { return {}; }
  /// Returns the error in a Redis URL and a valid form; empty if there is no error. Must not
  /// contain the URL, which may hold a password. Core checks only the scheme of a URL.
  virtual std::string url_problem(const std::string& url);
  /// Returns the error in a token file; empty if there is none or this user may not read the file.
  virtual std::string token_problem(const std::string& /*path*/) { return {}; }
};

/// The real host. Derived classes check URLs in more detail.
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

/// Returns the default address of the status API. As root it is `unix:/run/w8y/w8yd.sock`. For
/// another user, $RUNTIME_DIRECTORY replaces `/run`; if it is not set, $XDG_RUNTIME_DIR does. A
/// $RUNTIME_DIRECTORY that ends in `/w8y` is used unchanged: systemd sets such a path for
/// `RuntimeDirectory=w8y`. If it names several directories, the first one is used.
std::string default_status(ConfigHost& host);

/// Parses a config. `name` precedes the line number in errors ("/etc/w8y.toml", "<stdin>"). Throws
/// ConfigError.
Config parse_config(std::string_view text, const std::string& name, ConfigHost& host);
/// Reads `path` ("-" = standard input) and all files that it includes. Throws ConfigError.
Config load_config(const std::string& path, ConfigHost& host);

/// A key that a config file may have. The sample and the schema are checked against these keys.
struct KnownKey {
  std::string section;  ///< "" (top level), "redis", "supervisor", "lists", "lists.backoff", …
  std::string name;
  std::string fallback;  ///< the default in TOML; empty = none
};
std::vector<KnownKey> known_keys();

}  // namespace w8y
