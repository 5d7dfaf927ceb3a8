// Record of a finished run, as its host writes it to Redis (w8y-keys(7)) and as it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "view/field.hpp"

namespace w8y::view {

struct RunRecord {
  std::string list;
  std::string run;
  DisplayItem item;  ///< first bytes of a long item
  std::string host;
  std::string outcome;            ///< outcome_name()
  std::string reason;             ///< empty: no reason
  std::optional<WallTime> ended;  ///< by the clock of its host
  std::optional<WallTime> duration;
  std::optional<WallTime> cpu;  ///< CPU time of its processes on all processors together
  std::optional<std::int64_t> peak_memory;  ///< of its processes, in bytes
  std::optional<std::int64_t> exit;         ///< exit status of its process
  std::string signal;                       ///< signal that killed its process; empty: none
  std::optional<std::int64_t> attempt;
  std::optional<std::int64_t> fence;
  std::string result;  ///< JSON from its executor; empty: none

  // In the history only.
  std::optional<std::int64_t> bad_lines;
  std::string stalled;       ///< reason why its job was stalled; empty: it was not stalled
  std::string error_output;  ///< end of its log output

  /// Time at which the record was added to the history, by the clock of Redis; not in the text of
  /// the record.
  WallTime entered{0};

  /// nullopt: not known.
  [[nodiscard]] std::optional<WallTime> started() const;
  [[nodiscard]] bool failed() const { return outcome != "succeeded"; }
};

/// Returns the message on `P:events`: {"type":"end","list":…}.
std::string event_text(const RunRecord& run);
/// Returns the members that only the history has, each after a comma: `,"bad_lines":2`.
std::string history_text(const RunRecord& run);
/// Returns an object of GET /api/v1/runs.
std::string to_json(const RunRecord& run);
/// Returns the names of the members of a run on these surfaces.
std::vector<std::string_view> record_names(unsigned surfaces);
/// Reads an entry of the history. nullopt: w8yd does not write such an entry. `entered`: time of
/// the record before; receives the time of this record, if the record has one.
std::optional<RunRecord> read_record(const std::string& list, std::string_view text,
                                     std::optional<WallTime>& entered);

}  // namespace w8y::view
