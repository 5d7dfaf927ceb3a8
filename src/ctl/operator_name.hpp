// Name of the operator, as pauses, quarantine and commands record it.
#pragma once

#include <string>

namespace w8y::ctl {

/// Returns the user and the host: "jo on web1".
std::string operator_name();

}  // namespace w8y::ctl
