// The process that starts children in w8yd's place where a start may take as long as somebody else
// likes. It knows nothing but the request that it has in hand, and waits for no child.
#pragma once

#include <string>
#include <vector>

namespace w8y::process {

/// How a program that can be its own helper is called for that: by its main(), before anything
/// else, which then returns what run_spawn_helper() does.
inline constexpr const char* spawn_helper_word = "--spawn-helper";

/// Serves the socket on standard input until the other side is gone. Each child is a copy of this
/// process, so it shares memory with nobody; it is its caller's child (CLONE_PARENT), dies with it,
/// and tells on its own pipe what went wrong, or by the end of that pipe that it has called exec.
int run_spawn_helper();

}  // namespace w8y::process
