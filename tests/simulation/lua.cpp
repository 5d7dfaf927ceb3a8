#include "simulation/lua.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

extern "C" {
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
}

#include "simulation/random.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

/// State of a running script.
struct Running {
  const ScriptCall& call;
  const CommandRefusal& refusal;
  bool written = false;
};
thread_local Running* running = nullptr;

void push_text(lua_State* state, const std::string& text) {
  lua_pushlstring(state, text.data(), text.size());
}

/// Pushes {err = text} or {ok = text}.
void push_field(lua_State* state, const char* name, const std::string& text) {
  lua_newtable(state);
  push_text(state, text);
  lua_setfield(state, -2, name);
}

void push_value(lua_State* state, const Value& value) {
  luaL_checkstack(state, 4, "a reply is too deep");
  switch (value.kind) {
    case Value::Kind::nil:
      return lua_pushboolean(state, 0);
    case Value::Kind::integer:
      return lua_pushnumber(state, static_cast<lua_Number>(value.number));
    case Value::Kind::bulk:
      return push_text(state, value.text);
    case Value::Kind::status:
      return push_field(state, "ok", value.text);
    case Value::Kind::error:
      return push_field(state, "err", value.text);
    case Value::Kind::array:
      break;
  }
  lua_createtable(state, static_cast<int>(value.elements.size()), 0);
  int place = 0;
  for (const Value& element : value.elements) {
    push_value(state, element);
    lua_rawseti(state, -2, ++place);
  }
}

Value value_at(lua_State* state, int place);

/// Reads the text in a field of the table at the top. Returns false if there is none.
bool text_field(lua_State* state, const char* name, std::string& text) {
  lua_pushstring(state, name);
  lua_rawget(state, -2);
  const bool found = lua_type(state, -1) == LUA_TSTRING;
  if (found) {
    std::size_t size = 0;
    const char* bytes = lua_tolstring(state, -1, &size);
    text.assign(bytes, size);
  }
  lua_pop(state, 1);
  return found;
}

Value table_at_top(lua_State* state) {
  std::string text;
  if (text_field(state, "err", text)) return Value::error(text);
  if (text_field(state, "ok", text)) return Value::status(text);
  std::vector<Value> elements;
  for (int i = 1;; ++i) {
    lua_rawgeti(state, -1, i);
    const bool over = lua_isnil(state, -1);
    if (!over) elements.push_back(value_at(state, -1));
    lua_pop(state, 1);
    if (over) return Value::array(std::move(elements));
  }
}

/// Converts a value of a script to a reply as Redis does: numbers lose their fractions.
Value value_at(lua_State* state, int place) {
  switch (lua_type(state, place)) {
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* bytes = lua_tolstring(state, place, &size);
      return Value::of(std::string(bytes, size));
    }
    case LUA_TNUMBER:
      return Value::of(static_cast<std::int64_t>(lua_tonumber(state, place)));
    case LUA_TBOOLEAN:
      return lua_toboolean(state, place) != 0 ? Value::of(1) : Value{};
    case LUA_TTABLE: {
      lua_pushvalue(state, place);
      Value value = table_at_top(state);
      lua_pop(state, 1);
      return value;
    }
    default:
      return {};
  }
}

/// Returns the words of a command. Empty if one is neither a number nor a string.
Words words_given(lua_State* state) {
  Words words;
  for (int i = 1; i <= lua_gettop(state); ++i) {
    if (lua_type(state, i) == LUA_TNUMBER) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.17g", lua_tonumber(state, i));
      words.emplace_back(digits);
    } else if (lua_type(state, i) == LUA_TSTRING) {
      std::size_t size = 0;
      const char* bytes = lua_tolstring(state, i, &size);
      words.emplace_back(bytes, size);
    } else {
      return {};
    }
  }
  return words;
}

Value carried_out(lua_State* state) {
  const Words words = words_given(state);
  if (words.empty())
    return Value::error("ERR Lua redis lib command arguments must be strings or integers");
  const CommandInfo* info = command_of(words.front());
  if (info == nullptr) return Value::error("ERR the simulation has no model of " + words.front());
  if (std::string why = running->refusal(*info, running->written); !why.empty())
    return Value::error(std::move(why));
  running->written = running->written || info->effect != CommandInfo::Effect::reads;
  return run_command(*info, {running->call.keys, words, running->call.published});
}

/// Pushes a reply. Returns whether it is an error. Leaves no object to be destroyed, since errors
/// of Lua jump.
bool push_reply(lua_State* state) {
  const Value reply = carried_out(state);
  push_value(state, reply);
  return reply.kind == Value::Kind::error;
}

int redis_call(lua_State* state) {
  return push_reply(state) ? lua_error(state) : 1;
}

int redis_pcall(lua_State* state) {
  push_reply(state);
  return 1;
}

/// Returns an error. Adds the code ERR if the text has none.
int redis_error_reply(lua_State* state) {
  const char* text = luaL_checkstring(state, 1);
  if (*text == '-') ++text;
  const bool has_code = std::string_view(text).find(' ') != std::string_view::npos;
  push_field(state, "err", has_code ? text : std::string("ERR ") + text);
  return 1;
}

int redis_status_reply(lua_State* state) {
  push_field(state, "ok", luaL_checkstring(state, 1));
  return 1;
}

int redis_acl_check_cmd(lua_State* state) {
  const CommandInfo* info = command_of(luaL_checkstring(state, 1));
  lua_pushboolean(state, info != nullptr && running->refusal(*info, true).empty() ? 1 : 0);
  return 1;
}

/// Returns a distinct text for each input. It only distinguishes long items, so it need not be a
/// SHA-1.
int redis_sha1hex(lua_State* state) {
  std::size_t size = 0;
  const char* bytes = luaL_checklstring(state, 1, &size);
  push_text(state, std::to_string(hash_of(std::string_view(bytes, size))));
  return 1;
}

constexpr std::array<luaL_Reg, 6> functions{{
    {"sha1hex", redis_sha1hex},
    {"call", redis_call},
    {"pcall", redis_pcall},
    {"error_reply", redis_error_reply},
    {"status_reply", redis_status_reply},
    {"acl_check_cmd", redis_acl_check_cmd},
}};

class Lua {
 public:
  Lua() : state_(luaL_newstate()) {
    luaL_openlibs(state_.get());
    lua_newtable(state_.get());
    for (const luaL_Reg& each : functions) {
      lua_pushcfunction(state_.get(), each.func);
      lua_setfield(state_.get(), -2, each.name);
    }
    lua_setglobal(state_.get(), "redis");
    if (luaL_dostring(state_.get(), "cjson = require 'cjson'") != 0)
      throw std::runtime_error(std::string("Lua's cjson (package lua-cjson): ") +
                               lua_tostring(state_.get(), -1));
  }

  Value run(const redis::Script& script, const ScriptCall& call) {
    lua_State* state = state_.get();
    push("KEYS", call.key);
    static const std::string call_name = "1";
    push("ARGV", call.arg, &call_name);
    lua_rawgeti(state, LUA_REGISTRYINDEX, compiled(script));
    const bool failed = lua_pcall(state, 0, 1, 0) != 0;
    Value reply = value_at(state, -1);
    lua_pop(state, 1);
    if (!failed) return reply.elements.size() > 1 ? Value(reply.elements[1]) : Value{};
    const std::string code = reply.kind == Value::Kind::error ? "" : "ERR ";
    return Value::error(code + reply.text + " script: " + std::string(script.sha1) +
                        ", on @user_script:1.");
  }

 private:
  /// `last`: additional word.
  void push(const char* name, const Words& words, const std::string* last = nullptr) {
    lua_createtable(state_.get(), static_cast<int>(words.size()) + 1, 0);
    int place = 0;
    const auto add = [&](const std::string& word) {
      push_text(state_.get(), word);
      lua_rawseti(state_.get(), -2, ++place);
    };
    for (const std::string& word : words) add(word);
    if (last != nullptr) add(*last);
    lua_setglobal(state_.get(), name);
  }
  int compiled(const redis::Script& script) {
    const auto found = compiled_.find(script.sha1);
    if (found != compiled_.end()) return found->second;
    if (luaL_loadbuffer(state_.get(), script.text.data(), script.text.size(), "@user_script") != 0)
      throw std::runtime_error(std::string(script.name) +
                               ".lua: " + lua_tostring(state_.get(), -1));
    return compiled_[script.sha1] = luaL_ref(state_.get(), LUA_REGISTRYINDEX);
  }

  struct Close {
    void operator()(lua_State* state) const { lua_close(state); }
  };
  std::unique_ptr<lua_State, Close> state_;
  std::map<std::string_view, int> compiled_;  ///< by digest
};

constexpr std::array all_scripts{
    &store::scripts::add,
    &store::scripts::claim,
    &store::scripts::claim_item,
    &store::scripts::feed_config,
    &store::scripts::feed_create,
    &store::scripts::feed_delete,
    &store::scripts::feed_get,
    &store::scripts::feed_ids,
    &store::scripts::feed_items,
    &store::scripts::feed_leases,
    &store::scripts::feed_publish,
    &store::scripts::feed_put,
    &store::scripts::feed_retract,
    &store::scripts::feed_starts,
    &store::scripts::find,
    &store::scripts::find_changes,
    &store::scripts::gearman_record,
    &store::scripts::quarantine_page,
    &store::scripts::items_page,
    &store::scripts::job_change,
    &store::scripts::job_put,
    &store::scripts::job_return,
    &store::scripts::job_settle,
    &store::scripts::job_cleanup,
    &store::scripts::job_maintain,
    &store::scripts::job_stall_at_end,
    &store::scripts::job_recover,
    &store::scripts::job_renew,
    &store::scripts::job_claim,
    &store::scripts::change_long_items,
    &store::scripts::move_first,
    &store::scripts::peek,
    &store::scripts::list_stats,
    &store::scripts::quarantine,
    &store::scripts::record_changes,
    &store::scripts::release,
    &store::scripts::remove,
    &store::scripts::renew,
    &store::scripts::rerun,
    &store::scripts::schedule_count,
    &store::scripts::schedule_dispatch,
    &store::scripts::schedule_due,
    &store::scripts::schedule_earlier,
    &store::scripts::schedule_settle,
    &store::scripts::schedule_recover,
    &store::scripts::schedule_renew,
    &store::scripts::schedule_run,
    &store::scripts::schedule_set,
    &store::scripts::schedule_claim,
    &store::scripts::schedule_unset,
    &store::scripts::settle,
    &store::scripts::shorten,
    &store::scripts::sorted_edit,
    &store::scripts::sorted_insert,
    &store::scripts::sorted_move,
    &store::scripts::item_states,
    &store::scripts::recover,
    &store::scripts::sweep,
    &store::scripts::undo_claim,
};

}  // namespace

Value run_lua(const redis::Script& script, const ScriptCall& call, const CommandRefusal& refusal) {
  thread_local Lua lua;
  Running now{call, refusal};
  running = &now;
  Value reply = lua.run(script, call);
  running = nullptr;
  return reply;
}

const redis::Script* script_of_text(std::string_view text) {
  for (const redis::Script* script : all_scripts)
    if (script->text == text) return script;
  return nullptr;
}

const redis::Script* script_of_digest(std::string_view sha1) {
  for (const redis::Script* script : all_scripts)
    if (script->sha1 == sha1) return script;
  return nullptr;
}

}  // namespace w8y::sim
