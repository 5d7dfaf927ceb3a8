// Snapshot of the host for the status API.
#pragma once

#include <optional>
#include <string>

#include "core/status.hpp"
#include "core/supervisor.hpp"

namespace w8y::app {

/// List state that only Redis holds.
class ListStateSource {
 public:
  virtual ~ListStateSource() = default;
  /// Adds the known state of the list, if it was queried.
  virtual void add_to(ListStatus& status) const = 0;
  [[nodiscard]] virtual WallTime now() const = 0;
};

/// Fills in the config and limits of a host. Fields that the supervisor does not know are not
/// changed.
void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock);
/// Returns the state of a list that the supervisor knows, with `facts`.
ListStatus status_of(const ServedList& list, const Supervisor& supervisor,
                     const ListStateSource& facts);
std::optional<ListStatus> find_list(const Supervisor& supervisor, const ListStateSource& facts,
                                    const std::string& prefix);

}  // namespace w8y::app
