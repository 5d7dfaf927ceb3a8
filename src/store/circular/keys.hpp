// Names of the keys of a circular list (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

#include "core/circular_settings.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"

namespace w8y::store {

struct CircularKeys {
  /// `suffix`: ListConfig::key_suffix().
  explicit CircularKeys(const std::string& key_prefix, const std::string& lock_key = "lock",
                        const std::string& suffix = {})
      : list(key_prefix + "list"),
        lock_prefix(key_prefix + lock_key + ":"),
        other_lock_prefix(key_prefix + (lock_key == "lock" ? "proc" : "lock") + ":"),
        fence(key_prefix + "fence"),
        failures(key_prefix + "failures"),
        slots(key_prefix + "slots" + suffix),
        paused(key_prefix + "paused" + suffix),
        runs(key_prefix + "runs" + suffix),
        events(key_prefix + "events"),
        wake(key_prefix + "wake"),
        quarantined(key_prefix + "quarantined"),
        waiting(key_prefix + "waiting"),
        samples(key_prefix + "samples"),
        claims(key_prefix + "claims"),
        reruns(key_prefix + "reruns"),
        request_prefix(key_prefix + "idempotency:"),
        breaker(key_prefix + "breaker" + suffix) {}
  explicit CircularKeys(const ListConfig& rule)
      : CircularKeys(rule.key_prefix(), rule.circular().lock_key) {}

  static constexpr std::string_view end_of_list = "list";
  /// Returns one name without building all others.
  [[nodiscard]] static std::string list_of(const ListConfig& rule) {
    return rule.key_prefix().append(end_of_list);
  }
  static void add_list_of(const ListConfig& rule, std::string& to) {
    to += rule.prefix;
    if (!rule.prefix.empty()) to += ':';
    to += end_of_list;
  }
  [[nodiscard]] static std::string lock_prefix_of(const ListConfig& rule) {
    return rule.key_prefix() + rule.circular().lock_key + ":";
  }
  [[nodiscard]] std::string lock(const Item& item) const { return lock_prefix + item; }
  /// Returns the channel on which a waiting host receives its turn. `holder`: as in the values of
  /// its locks, before the run ID. It ends in ':', unlike all other channels.
  [[nodiscard]] std::string turn(const std::string& holder) const { return wake + ':' + holder; }

  std::string list;
  std::string lock_prefix;
  std::string other_lock_prefix;  ///< lock names of a previous `lock_key`, which may still exist
  std::string fence;
  std::string failures;
  std::string slots;
  std::string paused;
  std::string runs;
  std::string events;
  std::string wake;
  std::string quarantined;
  std::string waiting;
  std::string samples;
  std::string claims;  ///< claims that renewals have recorded
  std::string reruns;
  std::string request_prefix;  ///< prefix of the records of requests (parts/request.lua)
  std::string breaker;
};

}  // namespace w8y::store
