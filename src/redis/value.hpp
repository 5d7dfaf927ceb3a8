// A reply that outlives the callback that was given it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redis/reply.hpp"

namespace w8y::redis {

/// A reply that owns what it says.
struct Value {
  enum class Kind { nil, integer, string, error, array };
  Kind kind = Kind::nil;
  std::int64_t number = 0;      ///< integer, or a string that is one
  std::string text;             ///< string, error
  std::vector<Value> elements;  ///< array

  Value() = default;
  explicit Value(const Reply& reply);

  [[nodiscard]] bool is_nil() const { return kind == Kind::nil; }
  [[nodiscard]] bool is_error() const { return kind == Kind::error; }
};

}  // namespace w8y::redis
