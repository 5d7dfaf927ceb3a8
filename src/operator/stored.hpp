// Reads numbers, times and IDs that Redis holds. A value that is missing or of another type is
// empty or 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "operator/schedule_changes.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

/// Parses a number from 0; 0 if the text is none.
std::int64_t stored_number(std::string_view text);
/// Returns when a run was claimed, from its ID; nullopt: the ID is not a ULID.
std::optional<WallTime> time_of_run(const std::string& run);
/// Converts a text to digits and upper-case letters, as in IDs of runs.
std::string run_id_of(std::string text);
/// Returns the earliest claim time of a run whose ID starts with `start`; nullopt: no ID can.
std::optional<WallTime> earliest_time(const std::string& start);
/// Returns the second in which a job with this score is dispatched; nullopt: never.
std::optional<store::UnixSeconds> due_second(std::optional<double> score);

using TakeElement = std::function<bool(redis::ReplyCopy* element)>;
/// Reads a hash (HSCAN), a set (SSCAN) or a sorted set (ZSCAN), about `count` elements per reply,
/// so that Redis is never blocked for long. Calls `take` with each element, which is one reply of a
/// set and two replies of the others, until it returns false. Redis may return an element twice.
void scan(redis::SyncClient& client, std::string_view command, const std::string& key,
          std::string_view count, const TakeElement& take);

/// Returns the error of a command, which names the key if it has a wrong type.
redis::RedisError error_at(const std::string& what, redis::ErrorCode code, const std::string& key);

/// Formats an item. A long one is truncated, with its length: "xxx… (the first 4096 of 9437186
/// bytes)".
std::string item_text(const DisplayItem& item);

}  // namespace w8y::verbs
