// What is noted of our claims of jobs (F:claims), as parts/job_claims.lua writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace w8y::store::thoonk {

struct JobNote {
  std::int64_t score = 0;  ///< of the claim; another in feed.claimed: the note counts for nothing
  std::int64_t until_ms = 0;               ///< of its lease
  bool stalls = false;                     ///< an operator wants it stalled when its run ends
  std::optional<std::int64_t> held_until;  ///< ms: its run has failed, and it is cancelled then
  std::string run;                         ///< "run:<host>:<pid>:<run id>"
};
std::optional<JobNote> read_job_note(std::string_view text);

}  // namespace w8y::store::thoonk
