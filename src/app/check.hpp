// `w8yd --check`
#pragma once

#include <w8y/rule.hpp>

namespace w8y::app {

/// Probes every executor and prints which lists this host would run, and why not the others.
/// Returns the exit status.
int check(const Config& config);

}  // namespace w8y::app
