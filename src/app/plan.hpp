// `w8yd --plan`
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Asks the running w8yd for its configuration, on the status address that `config` names, and
/// prints what a reload would change. Returns the exit status; 3: not reachable.
int plan(const Config& config);

}  // namespace w8y::app
