// w8yd: supervisor of a host.
#include <CLI/CLI.hpp>
#include <malloc.h>
#include <signal.h>

#include <iostream>
#include <optional>
#include <string>

#include "app/check.hpp"
#include "app/daemon.hpp"
#include "app/plan.hpp"
#include "app/predecessor.hpp"
#include "app/start_signals.hpp"
#include "config/loading.hpp"
#include "process/host_limits.hpp"
#include "process/signals_blocked.hpp"
#include "process/spawn_helper.hpp"
#include "redis/tls_transport.hpp"

namespace {

struct Options {
  std::string config = w8y::config::default_config_path;
  bool check = false;
  bool strict = false;
  bool plan = false;
  std::optional<std::string> embedded;
};

constexpr int wrong_usage = 2;
constexpr int failed_start = 1;

/// Parses the command line. Returns false if w8yd must exit with `exit`.
bool parse(int argc, char** argv, Options& options, int& exit) {
  CLI::App app("Runs programs over lists of work in Redis, by one config file for every host.",
               "w8yd");
  std::string directory;
  app.set_version_flag("--version", "w8yd " W8Y_VERSION);
  app.add_option("--config", options.config, "Config file; - is standard input")
      ->capture_default_str();
  auto* check = app.add_flag("--check", options.check,
                             "Check the config and print which lists this host would run");
  app.add_flag("--strict", options.strict,
               "With --check: exit 1 if this host is ineligible for a list")
      ->needs(check);
  auto* plan =
      app.add_flag("--plan", options.plan, "Print what a reload would change in the running w8yd");
  auto* embedded =
      app.add_option("--embedded", directory, "Run a private Redis, with its data in DIR");
  embedded->expected(0, 1)->type_name("[DIR]");
  check->excludes(plan);
  app.footer(
      "Signals: USR2 reload; TERM, INT drain and exit; USR1 quiet, CONT resume; HUP reopen "
      "the log.\nExit status: 0 done, 1 cannot start, 2 wrong usage, 78 errors in the config.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    exit = app.exit(asked);
    return false;
  } catch (const CLI::Error& error) {
    std::cerr << "w8yd: " << error.what() << " (see w8yd --help)\n";
    exit = wrong_usage;
    return false;
  }
  if (embedded->count() > 0) options.embedded = directory;
  return true;
}

/// Blocks SIGTERM and SIGINT until the programs that print lists have ended. A pending signal kills
/// these programs.
w8y::Config load(const std::string& path) {
  const w8y::process::SignalsBlocked blocked{SIGTERM, SIGINT};
  return w8y::config::load_apart(path);
}

int run(const Options& options) {
  using namespace w8y;
  // Otherwise, glibc raises both thresholds with the largest block that was freed, and keeps more
  // and more memory in reserve.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  process::restrict_umask();
  if (options.check || options.plan) app::unblock_start_signals();
  Config config = load(options.config);
  if (options.check) return app::check(config, options.strict);
  if (options.plan) return app::plan(config);
  app::wait_for_predecessor(config.supervisor);
  malloc_trim(0);  // loading a file of many lists takes several times the memory of its config
  process::raise_descriptor_limit();
  app::DaemonOptions daemon{options.config, options.embedded};
  if (daemon.embedded && daemon.embedded->empty())
    daemon.embedded = ops::default_embedded_directory();
  // Until Signals handles them, so that the daemon never ends with only half of its parts started.
  const process::SignalsBlocked blocked{SIGTERM, SIGINT};
  return app::Daemon(std::move(daemon), std::move(config)).run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == w8y::process::spawn_helper_word) {
    w8y::app::unblock_start_signals();
    return w8y::process::run_spawn_helper();
  }
  Options options;
  w8y::redis::provide_tls();
  int status = 0;
  if (!parse(argc, argv, options, status)) return status;
  try {
    return run(options);
  } catch (const w8y::ConfigError& error) {
    w8y::config::print_errors("w8yd", error);
    return w8y::config::config_exit;
  } catch (const std::exception& error) {
    std::cerr << "w8yd: " << error.what() << '\n';
    return failed_start;
  }
}
