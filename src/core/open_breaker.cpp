#include "core/open_breaker.hpp"

#include "core/item.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

namespace w8y {

std::optional<OpenBreaker> read_open_breaker(std::string_view since, std::string_view probe,
                                             std::string_view failed, std::string_view reason) {
  if (since.empty()) return std::nullopt;
  OpenBreaker open;
  open.since = WallTime(read_integer(since, ms_range).value_or(0));
  open.probe = WallTime(read_integer(probe, ms_range).value_or(0));
  open.reason = std::string(shown_part(failed)) + " runs failed";
  if (!reason.empty()) open.reason += ": " + std::string(shown_part(reason));
  return open;
}

std::string breaker_text(const OpenBreaker& breaker, WallTime now) {
  return "breaker open for " + rough_duration(now - breaker.since) + ": " + breaker.reason;
}

}  // namespace w8y
