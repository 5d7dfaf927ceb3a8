#include <w8y/rule.hpp>

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

}  // namespace w8y
