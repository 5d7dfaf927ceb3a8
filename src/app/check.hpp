// `w8yd --check`
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Probes every executor and prints which lists this host would run, and why not the others.
/// Returns the exit status; with `strict`, 1 if there are such.
int check(const Config& config, bool strict);

}  // namespace w8y::app
