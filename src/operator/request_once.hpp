// Requests that are carried out once, although their client repeats them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/request_record.hpp"

namespace w8y::verbs {

/// Request with an Idempotency-Key.
struct RequestOnce {
  std::string key;  ///< any bytes; empty: a repetition is carried out again
  /// Method, path and body, which must be the same in a repetition.
  std::vector<std::string_view> content = {};
  std::string data = {};  ///< returned to a caller that repeats the request
};

/// Returns the record of a request. `prefix`: of the record's key.
store::RequestRecord record_of(const RequestOnce& request, const std::string& prefix);

}  // namespace w8y::verbs
