// The scripts of circular lists as the model of the store has them: written anew from their headers
// in src/store/lua, and held against them on a real server by the test `simulation-model`. Keys of
// a wrong type and refusals by an ACL are left to the tests of the store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

using Script = Value (*)(const ScriptCall& call);

Value claim(const ScriptCall& call);
Value claim_item(const ScriptCall& call);
Value undo(const ScriptCall& call);
Value renew(const ScriptCall& call);
Value settle(const ScriptCall& call);
Value look(const ScriptCall& call);
Value sweep(const ScriptCall& call);
Value quarantine(const ScriptCall& call);
Value release(const ScriptCall& call);
Value add_items(const ScriptCall& call);
Value remove_items(const ScriptCall& call);

/// What a script's text or its digest stands for; nullptr: none that is known.
Script script_of_text(std::string_view text);
Script script_of_digest(std::string_view sha1);
/// The digest of a script that is known.
std::string digest_of(Script script);

// What several of them do.
std::int64_t number(const std::string& text);
std::vector<std::string> range_of(Keys& keys, const std::string& list, std::int64_t first,
                                  std::int64_t last);
bool is_listed(Keys& keys, const std::string& list, const std::string& item);
bool has_field(Keys& keys, const std::string& hash, const std::string& field);
void set_field(Keys& keys, const std::string& hash, const std::string& field,
               const std::string& value);
void remove_field(Keys& keys, const std::string& hash, const std::string& field);
/// The first of `count` fencing tokens.
std::int64_t next_fence(Keys& keys, const std::string& fence, std::int64_t count);
std::int64_t failures_of(Keys& keys, const std::string& failures, const std::string& item);
void take_place(Keys& keys, const std::string& slots, const std::string& run, std::int64_t until_ms,
                std::int64_t life_ms);
/// Who waits for longest, as many as `count`, is told that it is his turn.
std::vector<std::string> call_from_line(Keys& keys, const std::string& line, std::int64_t count);

}  // namespace w8y::sim
