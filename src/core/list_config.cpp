#include "core/list_config.hpp"

#include "core/schedule_settings.hpp"

namespace w8y {

const std::string& ListConfig::bare_key_prefix() const {
  if (kind() != SourceKind::schedule || !schedule().key_prefix) return prefix;
  return *schedule().key_prefix;
}

void ListConfig::share(const ListConfig& other) {
  executor.share(other.executor);
  command.share(other.command);
  args.share(other.args);
  requires_caps.share(other.requires_caps);
  concurrency_by.share(other.concurrency_by);
  child.share(other.child);
  source.share(other.source);
}

}  // namespace w8y
