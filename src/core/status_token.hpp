// The token that a change over TCP needs.
#pragma once

#include <string>
#include <string_view>

#include "core/secret.hpp"

namespace w8y {

struct StatusToken {
  Secret token;
  std::string problem;  ///< not empty: there is no token. What follows the file's name
  bool denied = false;  ///< this user may not read the file
};
/// The first line of the file, which nobody but root may be able to write if it is root that reads.
StatusToken read_status_token(const std::string& path);

/// In a time that says nothing of either.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace w8y
