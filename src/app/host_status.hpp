// The snapshot that the status API shows.
#pragma once

#include <optional>
#include <string>

#include <w8y/status.hpp>
#include <w8y/supervisor.hpp>

#include "app/survey.hpp"

namespace w8y::app {

/// The config and limits of a host; what the supervisor can't know is left as it was.
void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock);
/// Everything of a list that the supervisor and the survey know.
ListStatus status_of(const ServedList& list, const Supervisor& supervisor, const Survey& survey);
std::optional<ListStatus> find_list(const Supervisor& supervisor, const Survey& survey,
                                    const std::string& prefix);

}  // namespace w8y::app
