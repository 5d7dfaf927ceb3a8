#include "config/loading.hpp"

#include <malloc.h>

#include <cstddef>
#include <future>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

#include "core/reload_plan.hpp"
#include "executor/environment.hpp"
#include "process/captured_run.hpp"
#include "redis/tls_environment.hpp"

namespace w8y::config {

namespace {

class Host : public SystemConfigHost {
 public:
  std::string url_problem(const std::string& url) override {
    try {
      redis::parse_url(url);
      return {};
    } catch (const redis::UrlError& error) {
      return error.what();
    }
  }
};

/// Host that runs the programs which print lists.
class RunningHost : public Host {
 public:
  std::optional<File> run(const std::vector<std::string>& command, Duration timeout) override {
    process::CaptureRequest request;
    request.argv = command;
    request.env = executor::basic_environment().release();
    request.timeout = timeout;
    process::CaptureResult result = process::run_and_capture(request);
    return File{std::move(result.output), std::move(result.problem)};
  }
};

/// Another host, for which each program is run only once.
class OtherHost final : public RunningHost {
 public:
  OtherHost(std::string name, unsigned processors, PrintedLists& printed)
      : name_(std::move(name)), processors_(processors), printed_(printed) {}
  std::optional<File> run(const std::vector<std::string>& command, Duration timeout) override {
    const auto [entry, is_new] = printed_.try_emplace(command);
    if (is_new) entry->second = *RunningHost::run(command, timeout);
    return entry->second;
  }
  std::string other_host() override { return name_; }
  unsigned processors() override { return processors_ > 0 ? processors_ : 1; }
  std::string missing(const std::string&) override { return {}; }
  std::string distrust(const std::string&) override { return {}; }

 private:
  const std::string name_;
  const unsigned processors_;
  PrintedLists& printed_;
};

/// Config that a thread has read, in the malloc arena of that thread. malloc_trim() frees unused
/// memory inside the heap, but not at its end. glibc frees the end when a block of at least 64 KiB
/// there is freed. `last` is that block.
struct OfThread {
  explicit OfThread(Config&& read) : config(std::move(read)) {}

  const std::unique_ptr<char[]> last{new char[std::size_t{96} << 10]};
  const Config config;
};

}  // namespace

Config load_as(const std::string& path, const std::string& host, unsigned processors,
               PrintedLists& printed) {
  const Wiping wiping;
  OtherHost other(host, processors, printed);
  Config config = load_config(path, other);
  set_hashes(config);
  return config;
}

Config load(const std::string& path) {
  const Wiping wiping;  // it may hold a password
  RunningHost host;
  return load_config(path, host);
}

Config load_apart(const std::string& path) {
  std::unique_ptr<const OfThread> read;
  try {
    read = std::async(std::launch::async, [&path] {
             return std::make_unique<const OfThread>(load(path));
           }).get();
  } catch (const std::system_error&) {
    return load(path);  // no thread is available
  }
  Config kept = read->config;
  for (auto* lists : {&kept.lists, &kept.written_lists})
    for (auto& [prefix, rule] : *lists) rule = std::make_shared<const ListConfig>(*rule);
  return kept;
}

Config load_without_programs(const std::string& path) {
  const Wiping wiping;
  Host host;
  return load_config(path, host);
}

LoadResult read_beside(const std::string& path, const Config& running) noexcept {
  const Wiping wiping;
  LoadResult reading;
  try {
    Config config = load(path);
    keep_unchanged(running, config);
    set_hashes(config, running);
    const auto read = std::make_shared<const OfThread>(std::move(config));
    reading.config = ConfigPtr(read, &read->config);
  } catch (const ConfigError& error) {
    for (const auto& mistake : error.errors()) reading.errors.push_back(mistake.to_string());
  } catch (const std::exception& error) {
    reading.errors.push_back(path + ": cannot be read: " + error.what());
  }
  malloc_trim(0);
  return reading;
}

void discard(ConfigPtr config) noexcept {
  config.reset();
  malloc_trim(0);
}

void print_errors(const char* program, const ConfigError& error) {
  for (const auto& mistake : error.errors())
    std::cerr << program << ": " << mistake.to_string() << '\n';
}

redis::ClientOptions client_options(const RedisSettings& settings, const std::string& name) {
  redis::ClientOptions options;
  options.url = redis::parse_secret_url(settings.url);
  options.password_file = settings.password_file;
  options.sentinel_password_file = settings.sentinel_password_file;
  options.tls = {settings.tls_ca, settings.tls_cert, settings.tls_key, settings.tls_server_name};
  options.connect_timeout = settings.connect_timeout;
  options.command_timeout = settings.command_timeout;
  options.name = name;
  return options;
}

redis::ClientOptions client_options_of(const std::string& url, const std::string& name) {
  RedisSettings settings;
  settings.url = url;
  redis::ClientOptions options = client_options(settings, name);
  options.tls = redis::tls_environment();
  return options;
}

}  // namespace w8y::config
