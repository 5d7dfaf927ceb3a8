// Settings as text that may be shown, key by key, and the secrets that it hides.

#include "core/config_gearman.hpp"
#include "core/config_keys.hpp"
#include "core/list_config.hpp"
#include "core/setting_text.hpp"

namespace w8y {

namespace {

template <class T>
Settings settings_of(std::span<const core::Key<T>> rows, const T& from) {
  Settings settings;
  for (const core::Key<T>& row : rows) settings.emplace(row.name, row.show(from));
  return settings;
}

}  // namespace

Settings describe(const ListConfig& rule) {
  Settings settings;
  for (const core::Key<ListConfig>* row : core::list_keys_by_name())
    if ((row->kinds & rule.traits().bit()) != 0)
      settings.emplace_hint(settings.end(), row->name, row->show(rule));
  return settings;
}

Settings describe(const RedisSettings& redis) {
  return settings_of(core::redis_keys, redis);
}

Settings describe(const SupervisorSettings& supervisor) {
  return settings_of(core::supervisor_keys, supervisor);
}

Settings describe(const GearmanServers& gearman) {
  return gearman.servers.empty() ? Settings{} : settings_of(core::gearman_keys, gearman);
}

Settings describe_redis(const Config& config) {
  return config.has_redis ? describe(config.redis) : Settings{};
}

ConfigText describe(const Config& config) {
  ConfigText out{describe_redis(config), describe(config.gearman), describe(config.supervisor), {}};
  for (const auto& [prefix, rule] : config.lists) out.lists.emplace(prefix, describe(*rule));
  return out;
}

Secrets secrets_of(const ListConfig& rule) {
  Secrets secrets;
  for (const auto& [name, value] : rule.child->env)
    secrets.emplace_hint(secrets.end(), "env." + name, value);
  return secrets;
}

Secrets secrets_of(const RedisSettings& redis) {
  const core::UrlParts parts = core::split_password(redis.url.view());
  if (!parts.password) return {};
  return {{"url.password", std::string(*parts.password)}};
}

}  // namespace w8y
