// Reads numbers, times and IDs that Redis holds. A value that is missing or of another type is
// empty or 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "operator/schedule_changes.hpp"

namespace w8y::verbs {

/// A number from 0 that Redis has as text; 0 where it has none.
std::int64_t stored_number(std::string_view text);
/// When a run was claimed, as its id says; nullopt: it is no ULID.
std::optional<WallTime> time_of_run(const std::string& run);
/// Digits and upper-case letters, as ids of runs have them.
std::string run_id_of(std::string text);
/// When the first run was claimed whose id starts so; nullopt: no id does.
std::optional<WallTime> earliest_time(const std::string& start);
/// The second in which a job with this score is dispatched; nullopt: never.
std::optional<store::UnixSeconds> due_second(std::optional<double> score);

/// Of a long one the beginning, and how long it is: "xxx… (the first 4096 of 9437186 bytes)".
std::string item_text(const DisplayItem& item);

}  // namespace w8y::verbs
