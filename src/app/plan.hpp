// `w8yd --plan`
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Requests the config of the running w8yd at the status address in `config`, and prints what a
/// reload would change. Returns the exit status; 3 = not reachable.
int plan(const Config& config);

}  // namespace w8y::app
