// Lists that are known without a query to Redis: from a config, or from the w8yd of this host.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/list_config.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::verbs {

struct KnownList {
  SourceKind kind = SourceKind::circular;
  std::string lock_key;                              ///< of a circular list
  std::vector<std::string> queues;                   ///< of a schedule, if known
  store::thoonk::MaintenanceTerms maintenance = {};  ///< of jobs
};

class KnownLists {
 public:
  /// `config` must outlive this.
  explicit KnownLists(const Config& config) : lists_(&config) {}
  explicit KnownLists(std::map<std::string, KnownList> lists) : lists_(std::move(lists)) {}

  [[nodiscard]] std::optional<KnownList> find(const std::string& prefix) const;
  [[nodiscard]] bool contains(const std::string& prefix) const { return find(prefix).has_value(); }
  /// Passes all lists to `take`, by name.
  void each(const std::function<void(const std::string& prefix, SourceKind kind)>& take) const;

 private:
  std::variant<const Config*, std::map<std::string, KnownList>> lists_;
};

}  // namespace w8y::verbs
