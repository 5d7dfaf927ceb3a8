// Scenario: hosts that have only Gearman lists, and no Redis in their config. Reloads may add a
// Redis and remove it again.
#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

/// Time after the last fault.
constexpr Duration reload_pause = std::chrono::seconds(5);

}  // namespace

bool Scenario::has_redis(const Host& which) const {
  return settings_of_.at(which.name()).has_redis();
}

void Scenario::populate_redisless(Random random) {
  const auto dice = random.below(3);
  redisless_always_ = dice == 0;
  for (const auto& each : hosts_) {
    Settings& settings = settings_of_[each->name()];
    settings.redis = dice == 2 && random.chance(50);
    each->write_config(settings.config_of(each->name()));
  }
  // A reload to an unreachable Redis has had no effect and is repeated.
  world_.at(World::beginning + options_.scale.time - Scale::calm + reload_pause, [this] {
    for (const auto& each : hosts_) {
      moved_[each->name()].at = world_.now();
      each->reload();
    }
  });
}

/// Adds or removes the Redis of one host or of all.
void Scenario::start_redisless(const Fault& fault) {
  for (const auto& each : hosts_) {
    if (each->name() != fault.host && fault.number % 4 != 0) continue;
    Settings& settings = settings_of_[each->name()];
    settings.redis = !redisless_always_ && !settings.redis;
    promises_.error(each->name(), Duration{0});
    each->write_config(settings.config_of(each->name()));
    moved_[each->name()].at = world_.now();
    each->reload();
  }
}

}  // namespace w8y::sim
