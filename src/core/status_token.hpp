// The token that changes over TCP require.
#pragma once

#include <string>
#include <string_view>

#include "core/secret.hpp"

namespace w8y {

struct StatusToken {
  Secret token;
  std::string problem;  ///< why there is no token, to be written after the file's name; empty =
                        ///< there is one
  bool denied = false;  ///< this user may not read the file
};
/// Reads the first line of the file. If root reads it, only root may be able to write the file.
StatusToken read_status_token(const std::string& path);

/// Compares two secrets in a time that does not depend on their content.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace w8y
