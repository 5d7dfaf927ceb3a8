// Entry of an item in `P:quarantined` (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/item.hpp"

namespace w8y::store {

/// `{"run":…,"by":…,"reason":…,"time_ms":…}`, a JSON object. Members that are not known are
/// omitted.
struct QuarantineNote {
  RunId run;           ///< after which it was quarantined; empty = by an operator
  std::string by;      ///< "w8yd on web1", "alice on web1"
  std::string reason;  ///< at most max_reason bytes are kept
  WallTime time{0};    ///< 0 = not known
};
inline constexpr std::size_t max_reason = 1024;
/// Maximum length of a note in Redis that is parsed. A longer one is not from w8y, and its JSON
/// could use 50 times as much memory.
inline constexpr std::size_t longest_note = std::size_t{64} << 10;

std::string to_text(const QuarantineNote& note);
/// Parses a note as far as possible. Never throws.
QuarantineNote read_note(std::string_view text);

}  // namespace w8y::store
