// Redis commands for keys of any type and for strings, and commands without a key.
#include <algorithm>
#include <array>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

using Effect = CommandInfo::Effect;

Value run_exists(const CommandCall& call) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < call.words.size(); ++i)
    count += call.keys.exists(call.words[i]) ? 1 : 0;
  return Value::of(count);
}

Value run_del(const CommandCall& call) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < call.words.size(); ++i)
    count += call.keys.remove(call.words[i]) ? 1 : 0;
  return Value::of(count);
}

Value run_rename(const CommandCall& call) {
  if (!call.keys.rename(call.key(), call.words[2])) throw CommandError("ERR no such key");
  return Value::status("OK");
}

Value run_type(const CommandCall& call) {
  return Value::status(call.keys.type(call.key()));
}

Value run_pttl(const CommandCall& call) {
  return Value::of(call.keys.ttl(call.key()));
}

Value run_pexpire(const CommandCall& call) {
  return Value::of(call.keys.expire(call.key(), integer_word(call.words[2])) ? 1 : 0);
}

Value run_time(const CommandCall& call) {
  return bulk_array(
      {std::to_string(call.keys.now_us / 1'000'000), std::to_string(call.keys.now_us % 1'000'000)});
}

Value run_publish(const CommandCall& call) {
  call.published.push_back({call.words[1], call.words[2]});
  const auto* listener = call.keys.listener;
  return Value::of(listener == nullptr ? 0 : listener->hearers(call.words[1]));
}

// ---- texts

Value run_set(const CommandCall& call) {
  std::optional<std::int64_t> life;
  bool if_new = false, if_there = false;
  for (std::size_t i = 3; i < call.words.size(); ++i) {
    const std::string& word = call.words[i];
    const bool more = i + 1 < call.words.size();
    if (word == "NX") {
      if_new = true;
    } else if (word == "XX") {
      if_there = true;
    } else if (word == "PX" && more) {
      life = integer_word(call.words[++i]);
    } else if (word == "EX" && more) {
      life = integer_word(call.words[++i]) * 1000;
    } else {
      throw CommandError("ERR syntax error");
    }
  }
  if (life && *life <= 0) throw CommandError("ERR invalid expire time in 'set' command");
  if (if_there && !call.keys.exists(call.key())) return {};
  return call.keys.set(call.key(), call.words[2], life, if_new) ? Value::status("OK") : Value{};
}

Value run_get(const CommandCall& call) {
  const auto* text = call.keys.find<std::string>(call.key());
  return text == nullptr ? Value{} : Value::of(*text);
}

/// A key of another type counts as missing.
Value run_mget(const CommandCall& call) {
  std::vector<Value> texts;
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const bool is_text = call.keys.type(call.words[i]) == std::string("string");
    texts.push_back(is_text ? Value::of(*call.keys.find<std::string>(call.words[i])) : Value{});
  }
  return Value::array(std::move(texts));
}

/// The same range as for lists, except that an end before the first byte means the first byte.
Value run_getrange(const CommandCall& call) {
  const std::int64_t first = integer_word(call.words[2]);
  std::int64_t last = integer_word(call.words[3]);
  const auto* text = call.keys.find<std::string>(call.key());
  if (text == nullptr || (first < 0 && last < 0 && first > last)) return Value::of("");
  if (last < 0) last = std::max<std::int64_t>(last + std::ssize(*text), 0);
  const auto range = range_within(first, last, text->size());
  return Value::of(range ? text->substr(range->first, range->second - range->first + 1) : "");
}

Value increase(const CommandCall& call, std::int64_t by) {
  const auto* text = call.keys.find<std::string>(call.key());
  const std::int64_t sum = sum_of_texts(text == nullptr ? "0" : *text, by,
                                        "ERR value is not an integer or out of range");
  call.keys.get<std::string>(call.key()) = std::to_string(sum);
  call.keys.notify(call.key(), "incrby");
  return Value::of(sum);
}

Value run_incr(const CommandCall& call) {
  return increase(call, 1);
}

Value run_incrby(const CommandCall& call) {
  return increase(call, integer_word(call.words[2]));
}

}  // namespace

std::span<const CommandInfo> key_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"EXISTS", -2, Effect::reads, run_exists},
      {"DEL", -2, Effect::writes, run_del},
      {"UNLINK", -2, Effect::writes, run_del},
      {"RENAME", 3, Effect::writes, run_rename},
      {"TYPE", 2, Effect::reads, run_type},
      {"PTTL", 2, Effect::reads, run_pttl},
      {"PEXPIRE", 3, Effect::writes, run_pexpire},
      {"TIME", 1, Effect::reads, run_time},
      {"PUBLISH", 3, Effect::reads, run_publish},
  });
  return all;
}

std::span<const CommandInfo> text_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"SET", -3, Effect::grows, run_set},
      {"GET", 2, Effect::reads, run_get},
      {"MGET", -2, Effect::reads, run_mget},
      {"GETRANGE", 4, Effect::reads, run_getrange},
      {"INCR", 2, Effect::grows, run_incr},
      {"INCRBY", 3, Effect::grows, run_incrby},
  });
  return all;
}

}  // namespace w8y::sim
