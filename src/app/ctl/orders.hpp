// What came of an order.
#pragma once

#include "app/ctl/options.hpp"
#include "ops/status_json.hpp"

namespace w8y::app::ctl {

/// On standard output. Returns the exit status.
int tell(const Options& options, const ops::Json& answer);

}  // namespace w8y::app::ctl
