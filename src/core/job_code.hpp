// Queue of a job of a schedule (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

namespace w8y {

/// Returns the code of a job, which names its queue: the part after the last ':', or the whole ID.
std::string_view code_of(std::string_view job);
/// Returns why no queue can have this code; empty if one can. The keys of such a queue would be
/// keys of another one: "A-members" is the set of the queue "A", and "A-A" marks the job "A" as
/// running.
std::string code_error(std::string_view code);

}  // namespace w8y
