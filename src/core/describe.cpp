// Settings as text that may be shown, and the hash that tells two configurations apart.
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include <w8y/rule.hpp>
#include <w8y/units.hpp>

#include "core/config_keys.hpp"
#include "core/text.hpp"

namespace w8y {

namespace {

class Sha256 {
 public:
  Sha256() { nettle_sha256_init(&context_); }

  void add(std::string_view bytes) {
    nettle_sha256_update(&context_, bytes.size(),
                         reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }
  /// With its length before it, so that "ab", "c" and "a", "bc" differ.
  void add_part(std::string_view bytes) {
    add_number(bytes.size());
    add(bytes);
  }
  void add_number(std::uint64_t number) {
    // Byte by byte, so that hosts of another byte order agree.
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>((number >> (8 * i)) & 0xff);
    add({bytes.data(), bytes.size()});
  }
  /// The first 64 bits.
  std::uint64_t finish() {
    std::array<std::uint8_t, 8> digest{};
    nettle_sha256_digest(&context_, digest.size(), digest.data());
    std::uint64_t number = 0;
    for (const std::uint8_t byte : digest) number = number << 8 | byte;
    return number;
  }

 private:
  sha256_ctx context_{};
};

/// 16 digits.
std::string hex(std::uint64_t number) {
  char out[17];
  std::snprintf(out, sizeof out, "%016" PRIx64, number);
  return out;
}

constexpr std::string_view hidden = "(hidden)";

std::string text(bool flag) {
  return flag ? "true" : "false";
}

std::string text(double number) {
  char out[64];
  const auto [end, error] = std::to_chars(out, out + sizeof out, number);
  return {out, error == std::errc{} ? end : out};
}

std::string octal(unsigned mask) {
  char out[16];
  std::snprintf(out, sizeof out, "%03o", mask);
  return out;
}

/// `{ a = 1, b = 2 }`
class TableText {
 public:
  void add(const std::string& key, const std::string& value) {
    out_ += (out_.empty() ? "{ " : ", ") + key + " = " + value;
  }
  [[nodiscard]] std::string get() const { return out_.empty() ? "{}" : out_ + " }"; }

 private:
  std::string out_;
};

std::string text(const Backoff& backoff) {
  TableText out;
  out.add("min", core::quote(format_duration(backoff.min)));
  out.add("max", core::quote(format_duration(backoff.max)));
  out.add("factor", text(backoff.factor));
  return out.get();
}

std::string text(const std::vector<int>& numbers) {
  std::string out = "[";
  for (const int number : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  return out + "]";
}

std::string text(const std::map<std::string, std::string>& env) {
  TableText out;
  for (const auto& [name, value] : env) out.add(name, std::string(hidden));
  return out.get();
}

std::string text(const ResourceLimit& limit) {
  if (!limit.value) return core::quote("unlimited");
  for (const core::Limit& row : core::limits) {
    if (row.name != limit.name) continue;
    const auto number = static_cast<Duration::rep>(*limit.value);
    if (row.unit == core::LimitUnit::size) return core::quote(format_size(*limit.value));
    if (row.unit == core::LimitUnit::seconds) {
      return core::quote(format_duration(std::chrono::seconds(number)));
    }
    if (row.unit == core::LimitUnit::microseconds) {
      return core::quote(format_duration(Duration(number)));
    }
  }
  return std::to_string(*limit.value);
}

std::string text(const std::vector<ResourceLimit>& limits) {
  TableText out;
  for (const ResourceLimit& limit : limits) out.add(limit.name, text(limit));
  return out.get();
}

/// A URL around its password.
struct UrlParts {
  std::string before;
  std::optional<std::string> password;
  std::string after;
};

/// What stands before the last '@' counts as user and password even if that is no right URL: better
/// too much hidden than too little.
UrlParts split_password(const std::string& url) {
  const auto scheme = url.find("://");
  const auto at = url.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos) return {url, {}, {}};
  const auto colon = url.find(':', scheme + 3);
  if (colon == std::string::npos || colon >= at) return {url, {}, {}};
  return {url.substr(0, colon + 1), url.substr(colon + 1, at - colon - 1), url.substr(at)};
}

/// A password in it is hidden; a user's name is not.
std::string without_password(const std::string& url) {
  const UrlParts parts = split_password(url);
  return parts.before + (parts.password ? std::string(hidden) : "") + parts.after;
}

std::string name_of(LogLevel level) {
  static constexpr const char* names[] = {"trace", "debug", "info", "warn", "error"};
  return names[static_cast<std::size_t>(level)];
}

std::string name_of(Mode mode) {
  static constexpr const char* names[] = {"auto", "single", "stream"};
  return names[static_cast<std::size_t>(mode)];
}

std::string name_of(LogFormat format) {
  static constexpr const char* names[] = {"text", "logfmt", "json"};
  return names[static_cast<std::size_t>(format)];
}

// What follows hands each setting to `out(key, text)` in the order of the keys, as Settings has
// them: a list's settings can then be hashed without a map of them.

template <class Out>
void first_settings(const Rule& rule, const Out& out) {
  out("args", core::quote_all(rule.args));
  out("backoff", rule.backoff ? text(*rule.backoff) : "false");
  out("command", rule.command.empty() ? "" : core::quote_all(rule.command));
  out("concurrency", std::to_string(rule.concurrency));
  out("cooldown", format_duration(rule.cooldown));
  out("cpu_weight", rule.child->cpu_weight ? std::to_string(*rule.child->cpu_weight) : "");
  out("cwd", rule.child->cwd);
  out("enabled", text(rule.enabled));
  out("env", text(rule.child->env));
  out("env_file", rule.child->env_file);
  out("env_pass", core::quote_all(rule.child->env_pass));
  out("env_var", rule.child->env_var);
  out("executor", rule.executor);
  out("fleet_concurrency", std::to_string(rule.fleet_concurrency));
  out("group", rule.child->identity.group.value_or(""));
  out("history", std::to_string(rule.history));
  out("key_expiry", format_duration(rule.key_expiry));
  out("kill_grace", format_duration(rule.kill_grace));
}

template <class Out>
void last_settings(const Rule& rule, const Out& out) {
  out("lock_key", rule.lock_key);
  out("max_age", format_duration(rule.max_age));
  out("max_failures", std::to_string(rule.max_failures));
  out("max_items", std::to_string(rule.max_items));
  out("max_line", format_size(rule.max_line));
  out("memory_max", rule.child->memory_max ? format_size(*rule.child->memory_max) : "");
  out("mode", name_of(rule.mode));
  out("nice", rule.child->nice ? std::to_string(*rule.child->nice) : "");
  out("no_new_privs", text(rule.child->no_new_privs));
  out("on_lease_loss", rule.on_lease_loss == OnLeaseLoss::terminate ? "terminate" : "continue");
  out("processes", std::to_string(rule.processes));
  out("progress_timeout", format_duration(rule.progress_timeout));
  out("requires", core::quote_all(rule.requires_caps));
  out("rlimits", text(rule.child->rlimits));
  out("source", "circular");
  out("stderr_tail", format_size(rule.stderr_tail));
  out("success_exit_codes", text(rule.child->success_exit_codes));
  out("timeout", format_duration(rule.timeout));
  out("umask", rule.child->umask ? octal(*rule.child->umask) : "");
  out("user", rule.child->identity.user.value_or(""));
  out("weight", std::to_string(rule.weight));
}

template <class Out>
void settings_of(const Rule& rule, const Out& out) {
  first_settings(rule, out);
  last_settings(rule, out);
}

template <class Out>
void settings_of(const Settings& settings, const Out& out) {
  for (const auto& [key, value] : settings) out(key, value);
}

template <class From>
void add_settings(Sha256& hash, const From& from) {
  const auto add = [&](std::string_view key, std::string_view value) {
    hash.add_part(key);
    hash.add_part(value);
  };
  settings_of(from, add);
  hash.add_part("");  // No key is empty: here it ends.
}

void add_secrets(Sha256& hash, const Secrets& secrets) {
  for (const auto& [key, secret] : secrets) {
    hash.add_part(key);
    hash.add_part(secret);
  }
  hash.add_part("");
}

void add_sections(Sha256& hash, const RedisSettings& redis, const SupervisorSettings& supervisor) {
  // Each host has its own name, given or not, so it can't be a part of what they have in common.
  Settings shared = describe(supervisor);
  shared.erase("host");
  add_settings(hash, describe(redis));
  add_secrets(hash, secrets_of(redis));
  add_settings(hash, shared);
}

std::uint64_t hash_list(const std::string& prefix, const Rule& rule) {
  Sha256 hash;
  hash.add_part(prefix);
  add_settings(hash, rule);
  add_secrets(hash, secrets_of(rule));
  return hash.finish();
}

}  // namespace

Settings describe(const Rule& rule) {
  Settings settings;
  settings_of(rule, [&](const char* key, std::string value) {
    settings.emplace_hint(settings.end(), key, std::move(value));
  });
  return settings;
}

Settings describe(const RedisSettings& redis) {
  return {{"url", without_password(redis.url)},
          {"password_file", redis.password_file},
          {"sentinel_password_file", redis.sentinel_password_file},
          {"tls_ca", redis.tls_ca},
          {"tls_cert", redis.tls_cert},
          {"tls_key", redis.tls_key},
          {"tls_server_name", redis.tls_server_name},
          {"connect_timeout", format_duration(redis.connect_timeout)},
          {"command_timeout", format_duration(redis.command_timeout)},
          {"idle_commands", std::to_string(redis.idle_commands)}};
}

Settings describe(const SupervisorSettings& supervisor) {
  return {{"host", supervisor.host},
          {"fleet", supervisor.fleet},
          {"status", core::quote_all(supervisor.status)},
          {"log_level", name_of(supervisor.log_level)},
          {"log_format", name_of(supervisor.log_format)},
          {"log_file", supervisor.log_file},
          {"drain_timeout", format_duration(supervisor.drain_timeout)},
          {"probe_timeout", format_duration(supervisor.probe_timeout)},
          {"probe_interval", format_duration(supervisor.probe_interval)},
          {"max_processes", std::to_string(supervisor.max_processes)}};
}

ConfigText describe(const Config& config) {
  ConfigText out{describe(config.redis), describe(config.supervisor), {}};
  for (const auto& [prefix, rule] : config.lists) out.lists.emplace(prefix, describe(*rule));
  return out;
}

Secrets secrets_of(const Rule& rule) {
  Secrets secrets;
  for (const auto& [name, value] : rule.child->env)
    secrets.emplace_hint(secrets.end(), "env." + name, value);
  return secrets;
}

Secrets secrets_of(const RedisSettings& redis) {
  const UrlParts parts = split_password(redis.url);
  if (!parts.password) return {};
  return {{"url.password", *parts.password}};
}

std::string secret_digest(std::string_view salt, std::string_view secret) {
  Sha256 hash;
  hash.add_part(salt);
  hash.add_part(secret);
  return hex(hash.finish());
}

void set_hashes(Config& config, const Config& before) {
  // Each list is in it by its own hash, so that a reload need not make all anew.
  Sha256 whole;
  add_sections(whole, config.redis, config.supervisor);
  const bool has_hashes = before.list_hashes.size() == before.lists.size();
  auto was = before.lists.begin();
  auto its_hash = before.list_hashes.begin();
  config.list_hashes.clear();
  config.list_hashes.reserve(config.lists.size());
  for (const auto& [prefix, rule] : config.lists) {
    for (; has_hashes && was != before.lists.end() && was->first < prefix; ++was) ++its_hash;
    const bool same = has_hashes && was != before.lists.end() && was->second == rule;
    config.list_hashes.push_back(same ? *its_hash : hash_list(prefix, *rule));
    whole.add_number(config.list_hashes.back());
  }
  config.hash = hex(whole.finish());
}

}  // namespace w8y
