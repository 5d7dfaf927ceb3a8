#include "app/w8y_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <iostream>

namespace w8y::app {

namespace {

constexpr int wrong_usage = 2;

constexpr const char* footer =
    "Arguments after the executable are passed on; use {} as a placeholder for the item.\n"
    "Exit status: the child's, 128 + signal if it died by one, 0 if there was nothing to do,\n"
    "2 for wrong usage and for a Redis that can't be reached.";

class Usage final : public CLI::Formatter {
  [[nodiscard]] std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: w8y [OPTIONS] executable [args...]\n";
  }
};

}  // namespace

bool parse_w8y_options(int argc, char** argv, W8yOptions& options, int& exit) {
  CLI::App app("Runs an executable on the next free item of a circular list in Redis.", "w8y");
  const char* url = std::getenv("W8Y_REDIS_URL");
  options.redis_url = url != nullptr && *url != '\0' ? url : "redis://localhost:6379";
  options.lock_key = "lock";
  unsigned expiry = 5;

  app.formatter(std::make_shared<Usage>());
  app.footer(footer);
  app.prefix_command();
  app.set_version_flag("--version", "w8y " W8Y_VERSION);
  app.add_option("-u,--redis-url", options.redis_url,
                 "Redis to connect to (default: $W8Y_REDIS_URL, else redis://localhost:6379)");
  app.add_option("-k,--key-prefix", options.key_prefix, "Prefix of all keys; made to end in ':'");
  app.add_option("-x,--key-expiry", expiry, "Life of a lock that is not renewed, in seconds")
      ->check(CLI::Range(1U, 86400U * 365U))
      ->capture_default_str();
  app.add_option("-e,--env-var", options.env_var, "Environment variable that holds the item");
  app.add_flag("-c,--continuous", options.continuous, "Go on, item after item");
  app.add_option("-i,--exit-codes", options.exit_codes,
                 "With -c, go on after these exit codes (default: 0)")
      ->delimiter(',')
      ->take_all()
      ->expected(1)
      ->check(CLI::Range(0, 255));
  app.add_flag("-q,--quiet", options.quiet, "Nothing of our own on standard error");
  app.add_option("-f,--log-file", options.log_file, "Append log lines to this file, also with -q");
  app.add_flag(
      "-t,--no-log-timestamps", [&](std::int64_t) { options.timestamps = false; },
      "No time in log lines");
  app.add_option("--lock-key", options.lock_key, "Name of lock keys")
      ->check(CLI::IsMember({"lock", "proc"}))
      ->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    exit = app.exit(asked);
    return false;
  } catch (const CLI::Error& error) {
    std::cerr << "w8y: " << error.what() << " (see w8y --help)\n";
    exit = wrong_usage;
    return false;
  }
  options.command = app.remaining();
  if (!options.command.empty() && options.command.front() == "--")
    options.command.erase(options.command.begin());
  if (options.command.empty() || options.command.front().empty()) {
    std::cerr << "w8y: no executable given (see w8y --help)\n";
    exit = wrong_usage;
    return false;
  }
  if (options.command.front().front() == '-') {
    std::cerr << "w8y: " << options.command.front() << ": no such option (see w8y --help)\n";
    exit = wrong_usage;
    return false;
  }
  if (!options.key_prefix.empty() && options.key_prefix.back() == ':')
    options.key_prefix.pop_back();
  if (options.exit_codes.empty()) options.exit_codes = {0};
  options.key_expiry = std::chrono::seconds(expiry);
  return true;
}

}  // namespace w8y::app
