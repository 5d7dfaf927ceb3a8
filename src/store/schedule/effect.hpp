// What is done with a job of a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace w8y::store {

using UnixSeconds = std::int64_t;
using Job = std::string;  ///< bytes

// What becomes of a job when it is set.
struct Enqueue {};
struct RunAt {
  UnixSeconds time = 0;
};
struct StopJob {};  ///< status STP
struct BadJob {};   ///< status BAD
using SetEffect = std::variant<Enqueue, RunAt, StopJob, BadJob>;

}  // namespace w8y::store
