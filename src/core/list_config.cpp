#include "core/list_config.hpp"

#include "core/circular_settings.hpp"
#include "core/gearman_settings.hpp"
#include "core/schedule_settings.hpp"

namespace w8y {

const std::string& ListConfig::bare_key_prefix() const {
  if (kind() != SourceKind::schedule || !schedule().key_prefix) return prefix;
  return *schedule().key_prefix;
}

Duration ListConfig::overdue_after() const {
  return kind() == SourceKind::circular ? circular().overdue_after : Duration{0};
}

std::string ListConfig::lock_key() const {
  return kind() == SourceKind::circular ? circular().lock_key : std::string{};
}

std::vector<std::string> ListConfig::queues() const {
  return kind() == SourceKind::schedule ? schedule().queues : std::vector<std::string>{};
}

std::string ListConfig::function() const {
  return kind() == SourceKind::gearman ? gearman().function : std::string{};
}

bool ListConfig::depends_on_processors() const {
  return concurrency_share != 0 || processes_share != 0;
}

void ListConfig::share(const ListConfig& other) {
  executor.share(other.executor);
  command.share(other.command);
  args.share(other.args);
  requires_caps.share(other.requires_caps);
  child.share(other.child);
  source.share(other.source);
}

}  // namespace w8y
