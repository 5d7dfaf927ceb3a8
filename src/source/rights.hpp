// What an ACL keeps from us, as an answer tells: the one place that knows Redis's words for it.
#pragma once

#include "redis/reply.hpp"

namespace w8y::source {

/// Scripts as such: plain commands are left.
bool forbids_scripts(const redis::Answer& answer);
/// A command, called by us or by a script; not one that only lacks a key.
bool forbids_command(const redis::Answer& answer);
/// Anything: a command, a key, a channel.
bool forbids(const redis::Answer& answer);

}  // namespace w8y::source
