// Work that may take long, off the loop's thread.
#pragma once

#include <functional>

namespace w8y::loop {

class Loop;

/// Runs `work` on a thread of the pool. It must not touch anything that the loop's thread uses, and
/// must not throw. False: no thread can be had, and it was not run. The loop's end waits for it.
/// Throws std::system_error if the loop has used nothing of libuv yet and there are no descriptors
/// for it.
bool in_background(Loop& loop, std::function<void()> work);
/// The same; `then` is called from the loop when it is done, at the latest by the loop's end: what
/// it uses may be gone by then.
bool in_background(Loop& loop, std::function<void()> work, std::function<void()> then);

}  // namespace w8y::loop
