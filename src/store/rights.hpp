// What an ACL keeps from us, as an answer tells: the one place that knows Redis's words for it.
#pragma once

#include <string>
#include <string_view>

#include "redis/reply.hpp"

namespace w8y::store {

/// Forbids scripts as such: plain commands are left.
bool forbids_scripts(const redis::Answer& answer);
bool forbids_scripts(redis::ErrorCode code, std::string_view error);
/// Forbids a command, called by us or by a script; not one for which only a key is missing.
bool forbids_command(const redis::Answer& answer);
/// Forbids anything: a command, a key, a channel.
bool forbids(const redis::Answer& answer);

/// What is missing, and what comes of that, for people: "LPUSH: NOPERM …", as settle.lua has it.
std::string missing_right(std::string_view refused);

}  // namespace w8y::store
