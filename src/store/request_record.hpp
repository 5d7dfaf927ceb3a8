// Records of requests, so that a repeated request changes nothing (lua/parts/request.lua).
#pragma once

#include <string>

#include "redis/reply_copy.hpp"

namespace w8y::store {

/// Request that a script records beside the keys that it changes, for one hour.
struct RequestRecord {
  std::string key;   ///< key of the record; empty: the request is not recorded
  std::string hash;  ///< hexadecimal; of all that a repetition must have in common
  std::string data;  ///< for the caller that repeats the request; any bytes
};

struct RecordedReply {
  enum class State {
    written,
    again,  ///< the request was carried out before; results and data are those of that call
    other,  ///< the record is of another request, and nothing was changed
  };
  State state = State::written;
  std::string results;  ///< a digit for each entry: '1' it was added
  std::string data;
};

/// Parses the reply of a script that includes parts/request.lua.
RecordedReply read_recorded(const redis::ReplyCopy& reply);

}  // namespace w8y::store
