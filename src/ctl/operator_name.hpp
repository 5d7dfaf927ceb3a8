// Who gives an order, for whoever asks later.
#pragma once

#include <string>

namespace w8y::ctl {

/// "jo on web1"
std::string operator_name();

}  // namespace w8y::ctl
