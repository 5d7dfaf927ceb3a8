// Which queue a job of a schedule is entered in (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

namespace w8y {

/// What names a job's queue: what follows its last ':', or all of it.
std::string_view code_of(std::string_view job);
/// Why no queue can have this code; empty: one can. The keys of such a queue would be those of
/// another: "A-members" is the set of the queue "A", "A-A" says that the job "A" is worked on.
std::string code_error(std::string_view code);

}  // namespace w8y
