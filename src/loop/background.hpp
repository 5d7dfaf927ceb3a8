// Long work on another thread.
#pragma once

#include <functional>

namespace w8y::loop {

class Loop;

/// Runs `work` on a thread of the pool. `work` must not throw and must not access data that the
/// thread of the loop uses. False if no thread is available; then `work` was not run. The
/// destructor of the loop waits for `work`. The first call may create the loop of libuv; it throws
/// std::system_error if there are no descriptors for it.
bool in_background(Loop& loop, std::function<void()> work);
/// Runs `work` as above. The loop calls `then` when `work` is done, at the latest in its
/// destructor: objects that `then` uses may no longer exist by then.
bool in_background(Loop& loop, std::function<void()> work, std::function<void()> then);

}  // namespace w8y::loop
