// A w8yd that has our status address, and may be on its way out.
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Makes sure that no other w8yd has our status addresses. One that is draining is waited for, up
/// to `drain_timeout`: so a restart need not wait for the old one. Throws std::runtime_error, which
/// names who has an address, if that one goes on. Blocks: for before the loop runs.
void wait_for_predecessor(const SupervisorSettings& supervisor);

}  // namespace w8y::app
