#include "core/list_config.hpp"

namespace w8y {

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
