// The store's scripts, run by a Lua 5.1 as Redis runs them, on the model of its keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/script.hpp"
#include "simulation/commands.hpp"
#include "simulation/keys.hpp"
#include "simulation/value.hpp"

namespace w8y::sim {

struct ScriptCall {
  Keys& keys;
  const Words& key;  ///< KEYS
  const Words& arg;  ///< ARGV
  std::vector<Published>& published;
};

/// Why Redis refuses a command of a script; empty: it doesn't. `written`: the script has written
/// before.
using CommandRefusal = std::function<std::string(const CommandInfo& info, bool written)>;

/// Its reply; an error where the script raised one, as a Redis 7.0 tells it.
Value run_lua(const redis::Script& script, const ScriptCall& call, const CommandRefusal& refusal);

/// Of the store's scripts, the one with this text or digest; nullptr: none.
const redis::Script* script_of_text(std::string_view text);
const redis::Script* script_of_digest(std::string_view sha1);

}  // namespace w8y::sim
