// What an ACL keeps from us, as an answer tells: the one place that knows Redis's words for it.
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
/// Forbids a command, called by us or by a script; not one for which only a key is missing.
bool forbids_command(const redis::Answer& answer);
/// Forbids anything: a command, a key, a channel.
bool forbids(const redis::Answer& answer);

/// What is missing, and what comes of that, for people: "LPUSH: NOPERM …", as settle.lua has it.
std::string missing_right(std::string_view refused);

}  // namespace w8y::store
