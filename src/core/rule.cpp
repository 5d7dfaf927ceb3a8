#include "core/rule.hpp"

namespace w8y {

bool Rule::leases_as(const Rule& other) const {
  struct Same {
    const Rule& other;
    bool operator()(const CircularSettings& own) const {
      return own.lock_key == other.circular().lock_key;
    }
    bool operator()(const ScheduleSettings&) const { return true; }
    bool operator()(const JobSettings&) const { return true; }
    // A connection can change its function.
    bool operator()(const GearmanSettings&) const { return true; }
  };
  return kind() == other.kind() && std::visit(Same{other}, source);
}

void Rule::share(const Rule& other) {
  executor.share(other.executor);
  command.share(other.command);
  args.share(other.args);
  requires_caps.share(other.requires_caps);
  concurrency_by.share(other.concurrency_by);
  child.share(other.child);
  if (kind() != other.kind()) return;
  if (kind() == SourceKind::circular) circular().lock_key.share(other.circular().lock_key);
  if (kind() != SourceKind::schedule) return;
  schedule().queues.share(other.schedule().queues);
  schedule().timefile.share(other.schedule().timefile);
}

}  // namespace w8y
