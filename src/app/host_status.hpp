// The snapshot that the status API shows.
#pragma once

#include <optional>
#include <string>

#include "core/status.hpp"
#include "core/supervisor.hpp"

namespace w8y::app {

/// What only Redis knows of lists.
class ListStateSource {
 public:
  virtual ~ListStateSource() = default;
  /// Adds what is known of the list, if it was asked about.
  virtual void add_to(ListStatus& status) const = 0;
  [[nodiscard]] virtual WallTime now() const = 0;
};

/// The config and limits of a host; what the supervisor can't know is left as it was.
void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock);
/// Everything of a list that the supervisor knows, and `facts`.
ListStatus status_of(const ServedList& list, const Supervisor& supervisor,
                     const ListStateSource& facts);
std::optional<ListStatus> find_list(const Supervisor& supervisor, const ListStateSource& facts,
                                    const std::string& prefix);

}  // namespace w8y::app
