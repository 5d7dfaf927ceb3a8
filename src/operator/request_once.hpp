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
  /// All that a repetition must have in common: method, path and body.
  std::vector<std::string_view> content = {};
  std::string data = {};  ///< for the caller that repeats the request
};

/// Returns the record of a request. `prefix`: of its key.
store::RequestRecord record_of(const RequestOnce& request, const std::string& prefix);

}  // namespace w8y::verbs
