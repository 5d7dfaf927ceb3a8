// `w8yd --check`
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Probes every executor and prints which lists this host would serve, with reasons for the others.
/// Returns the exit status. With `strict`, it is 1 if there are others.
int check(const Config& config, bool strict);

}  // namespace w8y::app
