// Detects in replies what an ACL forbids. This is the only place that parses Redis's words for it.
#pragma once

#include <string>
#include <string_view>

#include "redis/reply.hpp"

namespace w8y::store {

/// Permissions that every kind of work in Redis needs.
inline constexpr const char* script_permissions = "+eval +evalsha";

/// Returns whether `error` says that an ACL forbids EVAL or EVALSHA.
bool forbids_scripts(std::string_view error);
/// Returns `error`. If an ACL forbids scripts, appends the missing permissions and the command that
/// grants them. `user`: Redis user of the connection; empty: the default user.
std::string with_remedy(std::string_view error, std::string_view user);
/// Returns whether an ACL forbids the command itself, called directly or by a script. A missing key
/// permission does not count.
bool forbids_command(const redis::Answer& answer);
/// Returns whether an ACL forbids anything: a command, a key or a channel.
bool forbids(const redis::Answer& answer);

/// Returns the missing permission and its consequence for operators. `refused`: "LPUSH: NOPERM …",
/// as in the reply of settle.lua.
std::string missing_right(std::string_view refused);

}  // namespace w8y::store
