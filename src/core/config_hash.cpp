// Hash of a config, to detect differences between hosts.
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "core/config_keys.hpp"
#include "core/list_config.hpp"
#include "core/sha256.hpp"

namespace w8y {

namespace {

/// Returns 16 digits.
std::string hex(std::uint64_t number) {
  char out[17];
  std::snprintf(out, sizeof out, "%016" PRIx64, number);
  return out;
}

void add_setting(Sha256& hash, std::string_view key, std::string_view value) {
  hash.add_part(key);
  hash.add_part(value);
}

void add_settings(Sha256& hash, const Settings& settings) {
  for (const auto& [key, value] : settings) add_setting(hash, key, value);
  hash.add_part("");  // End marker: no key is empty.
}

/// Adds the same settings as describe() returns, without building a map.
void add_settings(Sha256& hash, const ListConfig& rule) {
  for (const core::Key<ListConfig>* row : core::list_keys_by_name())
    if ((row->kinds & rule.traits().bit()) != 0) add_setting(hash, row->name, row->show(rule));
  hash.add_part("");
}

void add_secrets(Sha256& hash, const Secrets& secrets) {
  for (const auto& [key, secret] : secrets) {
    hash.add_part(key);
    hash.add_part(secret);
  }
  hash.add_part("");
}

void add_sections(Sha256& hash, const Config& config) {
  // Each host has its own name and addresses, set or not, so they are not part of the shared hash.
  Settings shared = describe(config.supervisor);
  shared.erase("host");
  shared.erase("status");
  if (config.written_host_concurrency)
    shared["host_concurrency"] = std::to_string(*config.written_host_concurrency);
  add_settings(hash, describe_redis(config));
  add_secrets(hash, secrets_of(config.redis));
  add_settings(hash, shared);
  // A config without [gearman] keeps the hash that it had before this section existed.
  if (const Settings gearman = describe(config.gearman); !gearman.empty())
    add_settings(hash, gearman);
}

/// Sets each number that was computed from the processors to 0, because it differs between hosts.
void forget_processors(ListConfig& rule) {
  if (rule.concurrency_share != 0) rule.concurrency = 0;
  if (rule.processes_share != 0) rule.processes = 0;
}

std::uint64_t hash_list(const std::string& prefix, const ListConfig& read) {
  std::optional<ListConfig> written;
  if (read.depends_on_processors()) forget_processors(written.emplace(read));
  const ListConfig& rule = written ? *written : read;
  Sha256 hash;
  hash.add_part(prefix);
  add_settings(hash, rule);
  add_secrets(hash, secrets_of(rule));
  return hash.finish();
}

}  // namespace

std::uint64_t core::hash_override(std::string_view pattern, std::string_view key,
                                  const ListConfig& said) {
  Sha256 hash;
  hash.add_part(pattern);
  hash.add_part(said.prefix);
  for (const core::Key<ListConfig>& row : core::list_keys) {
    if (row.name != key) continue;
    ListConfig written = said;
    forget_processors(written);
    add_setting(hash, key, row.show(written));
  }
  if (key == "env") add_secrets(hash, secrets_of(said));
  return hash.finish();
}

std::uint64_t core::hash_override(std::string_view pattern, unsigned host_concurrency) {
  Sha256 hash;
  hash.add_part(pattern);
  hash.add_number(host_concurrency);
  return hash.finish();
}

std::string secret_digest(std::string_view salt, std::string_view secret) {
  Sha256 hash;
  hash.add_part(salt);
  hash.add_part(secret);
  return hex(hash.finish());
}

void set_hashes(Config& config, const Config& before) {
  const Wiping wiping;
  // Each list is a part with its own hash, so that a reload need not compute all of them again.
  Sha256 whole;
  add_sections(whole, config);
  for (const std::uint64_t each : config.host_hashes) whole.add_number(each);
  const auto written = [](const Config& in, const std::string& prefix) {
    const auto found = in.written_lists.find(prefix);
    return found == in.written_lists.end() ? nullptr : found->second.get();
  };
  const bool has_hashes = before.list_hashes.size() == before.lists.size();
  auto was = before.lists.begin();
  auto its_hash = before.list_hashes.begin();
  config.list_hashes.clear();
  config.list_hashes.reserve(config.lists.size());
  for (const auto& [prefix, rule] : config.lists) {
    for (; has_hashes && was != before.lists.end() && was->first < prefix; ++was) ++its_hash;
    const ListConfig* as_written = written(config, prefix);
    const bool same = has_hashes && was != before.lists.end() && was->second == rule &&
                      as_written == nullptr && written(before, prefix) == nullptr;
    config.list_hashes.push_back(
        same ? *its_hash : hash_list(prefix, as_written == nullptr ? *rule : *as_written));
    whole.add_number(config.list_hashes.back());
  }
  config.hash = hex(whole.finish());
}

}  // namespace w8y
