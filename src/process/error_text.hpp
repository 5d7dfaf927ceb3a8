#pragma once

#include <string>
#include <system_error>

namespace w8y::process {

/// Returns the text of an errno.
inline std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace w8y::process
