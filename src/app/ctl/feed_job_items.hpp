// The jobs of a feed as `w8yctl items` shows them.
#pragma once

#include <cstddef>
#include <string>

#include "app/ctl/context.hpp"
#include "app/ctl/options.hpp"
#include "ops/status_json.hpp"

namespace w8y::app::ctl {

/// Prints them for people, or returns them for programs. In a state (empty: in any); until there
/// are `most` (0: all).
ops::Json show_feed_jobs(const Options& options, Context& context, const std::string& prefix,
                         const std::string& state, std::size_t most);

}  // namespace w8y::app::ctl
