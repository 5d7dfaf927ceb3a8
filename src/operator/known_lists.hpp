// Lists that are known without a query to Redis: from a config, or from the w8yd of this host.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/list_config.hpp"
#include "core/schedule_settings.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::verbs {

struct KnownList {
  const KindTraits* kind = default_kind;
  std::string lock_key;                              ///< of a circular list
  std::optional<std::string> key_prefix;             ///< of a schedule
  SharedKeyPrefix shared = {};                       ///< of a schedule
  std::vector<std::string> queues;                   ///< of a schedule, if known
  CatchUp catch_up = CatchUp::one;                   ///< of a schedule, if known
  store::thoonk::MaintenanceTerms maintenance = {};  ///< of jobs
};

class KnownLists {
 public:
  /// `config` must outlive this.
  explicit KnownLists(const Config& config) : lists_(&config) {}
  /// Sets `shared` of each schedule, from the queues of the other lists with its key prefix.
  explicit KnownLists(std::map<std::string, KnownList> lists);

  [[nodiscard]] std::optional<KnownList> find(const std::string& prefix) const;
  [[nodiscard]] bool contains(const std::string& prefix) const { return find(prefix).has_value(); }
  /// Returns the names of the schedules with this key prefix.
  [[nodiscard]] std::vector<std::string> with_key_prefix(const std::string& key_prefix) const;
  [[nodiscard]] bool has_key_prefix(const std::string& key_prefix) const {
    return !with_key_prefix(key_prefix).empty();
  }
  /// Passes all lists to `take`, by name.
  void each(
      const std::function<void(const std::string& prefix, const KindTraits& kind)>& take) const;

 private:
  std::variant<const Config*, std::map<std::string, KnownList>> lists_;
};

}  // namespace w8y::verbs
