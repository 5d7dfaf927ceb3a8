// A list and a host as the page has them: short, and without what changes all the time.
#pragma once

#include <string>

#include "core/status.hpp"

namespace w8y::ops {

/// A JSON object: what is as usual is left out (w8y-api(7)).
std::string live_row(const ListStatus& list);
/// As in GET /api/v1/status?lists=no, but for the time and what is counted. `away`: since when
/// Redis is, if it is; 0: that is not known.
std::string live_host(const HostStatus& host, WallTime away);

}  // namespace w8y::ops
