// The snapshot that the status API shows.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <w8y/status.hpp>
#include <w8y/supervisor.hpp>

#include "app/survey.hpp"

namespace w8y::app {

/// The config and limits of a host; what the supervisor can't know is left as it was.
void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock);
/// Everything of its lists that the supervisor and the survey know; those that are gone from the
/// config, but for their last runs, come last.
void each_list(const Supervisor& supervisor, const Survey& survey,
               const std::function<void(const ListStatus&)>& look);
std::optional<ListStatus> find_list(const Supervisor& supervisor, const Survey& survey,
                                    const std::string& prefix);

}  // namespace w8y::app
