// Scene: hosts that have only lists of Gearman, and no Redis in their config: always, or until a
// reload that gives them one, and takes it away again.
#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

/// After the last fault.
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
  // A reload to a Redis that could not be reached has changed nothing: it is ordered again.
  world_.at(World::beginning + options_.scale.time - Scale::calm + reload_pause, [this] {
    for (const auto& each : hosts_) {
      moved_[each->name()].at = world_.now();
      each->reload();
    }
  });
}

/// One host, or all.
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
