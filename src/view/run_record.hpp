// A finished run: as its host writes it to Redis (w8y-keys(7)) and as it is shown.
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
  DisplayItem item;  ///< the beginning of a long one
  std::string host;
  std::string outcome;            ///< outcome_name()
  std::string reason;             ///< empty: none
  std::optional<WallTime> ended;  ///< by its host's clock
  std::optional<WallTime> duration;
  std::optional<WallTime> cpu;              ///< time of its processes on all processors together
  std::optional<std::int64_t> peak_memory;  ///< of its processes, in bytes
  std::optional<std::int64_t> exit;         ///< of its process
  std::string signal;                       ///< that ended its process; empty: none
  std::optional<std::int64_t> attempt;
  std::optional<std::int64_t> fence;
  std::string result;  ///< JSON, as its executor gave it; empty: none

  // In the history only.
  std::optional<std::int64_t> bad_lines;
  std::string stalled;       ///< reason why its job was stalled; empty: it was not
  std::string error_output;  ///< the end of its standard error

  WallTime entered{0};  ///< when it came into the history, by Redis's clock; not in its own text

  /// nullopt: not known.
  [[nodiscard]] std::optional<WallTime> started() const;
  [[nodiscard]] bool failed() const { return outcome != "succeeded"; }
};

/// The message on `P:events`: {"type":"end","list":…}.
std::string event_text(const RunRecord& run);
/// Returns the members that only the history has, each after a comma: `,"bad_lines":2`.
std::string history_text(const RunRecord& run);
/// An object of GET /api/v1/runs.
std::string to_json(const RunRecord& run);
/// Names of the members of a run on these surfaces.
std::vector<std::string_view> record_names(unsigned surfaces);
/// Reads an entry of the history. nullopt: w8yd does not write such an entry. `entered`: time
/// of entry of the record before; receives the time of this record, if the record has one.
std::optional<RunRecord> read_record(const std::string& list, std::string_view text,
                                     std::optional<WallTime>& entered);

}  // namespace w8y::view
