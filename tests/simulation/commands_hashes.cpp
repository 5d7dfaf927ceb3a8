// Redis commands for hashes and sets.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

using Effect = CommandInfo::Effect;

Value run_hset(const CommandCall& call) {
  if (call.words.size() % 2 != 0)
    throw CommandError("ERR wrong number of arguments for 'hset' command");
  Hash& hash = call.keys.get<Hash>(call.key());
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.words.size(); i += 2)
    added += hash.insert_or_assign(call.words[i], call.words[i + 1]).second ? 1 : 0;
  call.keys.notify(call.key(), "hset");
  return Value::of(added);
}

Value run_hdel(const CommandCall& call) {
  Hash* hash = call.keys.find<Hash>(call.key());
  if (hash == nullptr) return Value::of(0);
  ++call.keys.written;
  std::int64_t gone = 0;
  for (std::size_t i = 2; i < call.words.size(); ++i)
    gone += static_cast<std::int64_t>(hash->erase(call.words[i]));
  if (gone > 0) call.keys.shrunk(call.key(), "hdel");
  return Value::of(gone);
}

/// Returns nullptr if the hash or the field does not exist.
const std::string* field_of(const Hash* hash, const std::string& field) {
  if (hash == nullptr) return nullptr;
  const auto found = hash->find(field);
  return found == hash->end() ? nullptr : &found->second;
}

Value run_hget(const CommandCall& call) {
  const auto* value = field_of(call.keys.find<Hash>(call.key()), call.words[2]);
  return value == nullptr ? Value{} : Value::of(*value);
}

Value run_hmget(const CommandCall& call) {
  const Hash* hash = call.keys.find<Hash>(call.key());
  std::vector<Value> values;
  for (std::size_t i = 2; i < call.words.size(); ++i) {
    const auto* value = field_of(hash, call.words[i]);
    values.push_back(value == nullptr ? Value{} : Value::of(*value));
  }
  return Value::array(std::move(values));
}

Value run_hexists(const CommandCall& call) {
  return Value::of(field_of(call.keys.find<Hash>(call.key()), call.words[2]) != nullptr ? 1 : 0);
}

Value run_hstrlen(const CommandCall& call) {
  const auto* value = field_of(call.keys.find<Hash>(call.key()), call.words[2]);
  return Value::of(value == nullptr ? 0 : std::ssize(*value));
}

Value run_hlen(const CommandCall& call) {
  const Hash* hash = call.keys.find<Hash>(call.key());
  return Value::of(hash == nullptr ? 0 : std::ssize(*hash));
}

Value run_hkeys(const CommandCall& call) {
  Words names;
  if (const Hash* hash = call.keys.find<Hash>(call.key()))
    for (const auto& [name, value] : *hash) names.push_back(name);
  return bulk_array(std::move(names));
}

Value run_hgetall(const CommandCall& call) {
  Words words;
  if (const Hash* hash = call.keys.find<Hash>(call.key()))
    for (const auto& [name, value] : *hash) words.insert(words.end(), {name, value});
  return bulk_array(std::move(words));
}

/// Returns consecutive fields from a different position each time. Redis draws each field at
/// random.
Value run_hrandfield(const CommandCall& call) {
  const std::int64_t count = integer_word(call.words[2]);
  const bool values = call.words.size() > 3;
  if (count < 0 || call.words.size() > 4 || (values && call.words[3] != "WITHVALUES"))
    throw CommandError("ERR the simulation has no model of this form of HRANDFIELD");
  const Hash* hash = call.keys.find<Hash>(call.key());
  if (hash == nullptr) return bulk_array({});
  Words words;
  const auto size = std::ssize(*hash);
  auto at = std::next(hash->begin(), call.keys.now_us % size);
  for (auto left = std::min<std::int64_t>(count, size); left > 0; --left) {
    words.push_back(at->first);
    if (values) words.push_back(at->second);
    if (++at == hash->end()) at = hash->begin();
  }
  return bulk_array(std::move(words));
}

Value run_hincrby(const CommandCall& call) {
  const std::int64_t by = integer_word(call.words[3]);
  const auto* value = field_of(call.keys.find<Hash>(call.key()), call.words[2]);
  const std::int64_t sum =
      sum_of_texts(value == nullptr ? "0" : *value, by, "ERR hash value is not an integer");
  call.keys.get<Hash>(call.key())[call.words[2]] = std::to_string(sum);
  call.keys.notify(call.key(), "hincrby");
  return Value::of(sum);
}

Value run_hscan(const CommandCall& call) {
  if (call.words.back() == "NOVALUES") throw CommandError("ERR syntax error");  // since 7.4
  const Hash* hash = call.keys.find<Hash>(call.key());
  std::vector<std::string> names;
  if (hash != nullptr)
    for (const auto& [name, value] : *hash) names.push_back(name);
  const ScanPage page = scan_page(call, names);
  Words words;
  for (const std::string& name : page.names)
    words.insert(words.end(), {name, hash->find(name)->second});
  return Value::array({Value::of(page.next), bulk_array(std::move(words))});
}

// ---- sets

Value run_sadd(const CommandCall& call) {
  Set& set = call.keys.get<Set>(call.key());
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.words.size(); ++i)
    added += set.insert(call.words[i]).second ? 1 : 0;
  if (added > 0) call.keys.notify(call.key(), "sadd");
  return Value::of(added);
}

Value run_srem(const CommandCall& call) {
  Set* set = call.keys.find<Set>(call.key());
  if (set == nullptr) return Value::of(0);
  ++call.keys.written;
  std::int64_t gone = 0;
  for (std::size_t i = 2; i < call.words.size(); ++i)
    gone += static_cast<std::int64_t>(set->erase(call.words[i]));
  if (gone > 0) call.keys.shrunk(call.key(), "srem");
  return Value::of(gone);
}

Value run_sismember(const CommandCall& call) {
  const Set* set = call.keys.find<Set>(call.key());
  return Value::of(set != nullptr && set->contains(call.words[2]) ? 1 : 0);
}

Value run_scard(const CommandCall& call) {
  const Set* set = call.keys.find<Set>(call.key());
  return Value::of(set == nullptr ? 0 : std::ssize(*set));
}

Words members_of(const CommandCall& call) {
  const Set* set = call.keys.find<Set>(call.key());
  return set == nullptr ? Words{} : Words(set->begin(), set->end());
}

Value run_smembers(const CommandCall& call) {
  return bulk_array(members_of(call));
}

Value run_sscan(const CommandCall& call) {
  const ScanPage page = scan_page(call, members_of(call));
  return Value::array({Value::of(page.next), bulk_array(page.names)});
}

}  // namespace

std::span<const CommandInfo> hash_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"HSET", -4, Effect::grows, run_hset},
      {"HDEL", -3, Effect::writes, run_hdel},
      {"HGET", 3, Effect::reads, run_hget},
      {"HMGET", -3, Effect::reads, run_hmget},
      {"HEXISTS", 3, Effect::reads, run_hexists},
      {"HSTRLEN", 3, Effect::reads, run_hstrlen},
      {"HLEN", 2, Effect::reads, run_hlen},
      {"HKEYS", 2, Effect::reads, run_hkeys},
      {"HGETALL", 2, Effect::reads, run_hgetall},
      {"HINCRBY", 4, Effect::grows, run_hincrby},
      {"HRANDFIELD", -3, Effect::reads, run_hrandfield},
      {"HSCAN", -3, Effect::reads, run_hscan},
  });
  return all;
}

std::span<const CommandInfo> set_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"SADD", -3, Effect::grows, run_sadd},
      {"SREM", -3, Effect::writes, run_srem},
      {"SISMEMBER", 3, Effect::reads, run_sismember},
      {"SCARD", 2, Effect::reads, run_scard},
      {"SMEMBERS", 2, Effect::reads, run_smembers},
      {"SSCAN", -3, Effect::reads, run_sscan},
  });
  return all;
}

}  // namespace w8y::sim
