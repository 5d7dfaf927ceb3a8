// A w8yd that has our status address, and may be on its way out.
#pragma once

#include <w8y/rule.hpp>

namespace w8y::app {

/// Whether the status addresses can be ours: one that a w8yd has which is draining is waited for,
/// up to `drain_timeout`, as in a restart that does not wait for the old one. Throws
/// std::runtime_error that names who has an address and goes on. Blocks; for before the loop.
void wait_for_predecessor(const SupervisorSettings& supervisor);

}  // namespace w8y::app
