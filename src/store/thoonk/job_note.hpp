// Record of a w8y claim of a job (F:claims), as parts/job_claims.lua writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace w8y::store::thoonk {

struct JobNote {
  std::int64_t score = 0;  ///< of the claim; the record is void if feed.claimed has another score
  std::int64_t until_ms = 0;               ///< end of its lease
  bool stalls = false;                     ///< an operator has requested that it is stalled at the
                                           ///< end of its run
  std::optional<std::int64_t> held_until;  ///< ms; its run has failed, and it is cancelled at that
                                           ///< time
  std::string run;                         ///< "run:<host>:<pid>:<run id>"
};
std::optional<JobNote> read_job_note(std::string_view text);

}  // namespace w8y::store::thoonk
