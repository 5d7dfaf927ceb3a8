// The snapshot that the status API shows.
#pragma once

#include <w8y/status.hpp>
#include <w8y/supervisor.hpp>

namespace w8y::app {

/// Everything of a list that the supervisor knows.
ListStatus list_status(const ServedList& list, bool quiet);
/// The lists and limits of a host; what the supervisor can't know is left as it was.
void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock);

}  // namespace w8y::app
