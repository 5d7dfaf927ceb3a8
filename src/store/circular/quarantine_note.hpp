// What `P quarantined` says of an item (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/item.hpp"

namespace w8y::store {

/// `{"run":…,"by":…,"reason":…,"time_ms":…}`, a JSON object; what is not known is left out.
struct QuarantineNote {
  RunId run;           ///< after which; empty: an operator has asked for it
  std::string by;      ///< "w8yd on web1", "alice on web1"
  std::string reason;  ///< at most max_reason bytes are kept
  WallTime time{0};    ///< 0: not known
};
inline constexpr std::size_t max_reason = 1024;
/// Bytes of a note in Redis. A longer one is not w8y's, and its JSON could take 50 times as much
/// memory.
inline constexpr std::size_t longest_note = std::size_t{64} << 10;

std::string to_text(const QuarantineNote& note);
/// Reads what can be read of it; never throws.
QuarantineNote read_note(std::string_view text);

}  // namespace w8y::store
