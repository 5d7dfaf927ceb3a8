// Copy of a reply that outlives the callback.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redis/reply.hpp"

namespace w8y::redis {

/// Reply that owns its content.
struct ReplyCopy {
  enum class Kind { nil, integer, string, error, array };
  Kind kind = Kind::nil;
  std::int64_t number = 0;          ///< integer, or a string that is one
  std::string text;                 ///< string, error
  std::vector<ReplyCopy> elements;  ///< array

  ReplyCopy() = default;
  explicit ReplyCopy(const Reply& reply);

  [[nodiscard]] bool is_nil() const { return kind == Kind::nil; }
  [[nodiscard]] bool is_error() const { return kind == Kind::error; }
};

[[nodiscard]] WallTime server_time(const ReplyCopy& reply);

}  // namespace w8y::redis
