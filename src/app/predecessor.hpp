// Another w8yd that uses the status address and may be draining.
#pragma once

#include "core/list_config.hpp"

namespace w8y::app {

/// Ensures that no other w8yd has the status addresses. Waits for a draining w8yd for up to
/// `drain_timeout`, so that a restart need not wait for the old process. Throws std::runtime_error
/// with the holder of an address if that process is not draining. Blocks, so that it must be called
/// before the loop runs.
void wait_for_predecessor(const SupervisorSettings& supervisor);

}  // namespace w8y::app
