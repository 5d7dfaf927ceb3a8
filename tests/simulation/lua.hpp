// Lua 5.1 that runs the scripts of the store as Redis does, on the model of the keys.
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

/// Returns the error if Redis refuses a command of a script, or an empty string. `written`: the
/// script has written before.
using CommandRefusal = std::function<std::string(const CommandInfo& info, bool written)>;

/// Runs a script and returns its reply, or its error in the format of Redis 7.0.
Value run_lua(const redis::Script& script, const ScriptCall& call, const CommandRefusal& refusal);

/// Returns the script of the store with this text or digest; nullptr if there is none.
const redis::Script* script_of_text(std::string_view text);
const redis::Script* script_of_digest(std::string_view sha1);

}  // namespace w8y::sim
