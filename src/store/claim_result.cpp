#include "store/claim_result.hpp"

namespace w8y::store {

void read_status(std::string_view status, ClaimResult& result) {
  result.more = status == "more";
  if (status == "none") result.end = ClaimEnd::nothing_free;
  if (status == "empty") result.end = ClaimEnd::empty;
  if (status == "halted") result.end = ClaimEnd::halted;
  if (status == "paused") result.end = ClaimEnd::paused;
  if (status == "full") result.end = ClaimEnd::fleet_full;
  if (status == "breaker") result.end = ClaimEnd::breaker;
}

}  // namespace w8y::store
