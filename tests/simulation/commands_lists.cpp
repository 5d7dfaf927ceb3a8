// Redis commands for lists.
#include <algorithm>
#include <array>
#include <utility>

#include "simulation/commands.hpp"

namespace w8y::sim {

namespace {

using Effect = CommandInfo::Effect;

Value push(const CommandCall& call, bool at_the_right) {
  List& list = call.keys.get<List>(call.key());
  for (std::size_t i = 2; i < call.words.size(); ++i)
    at_the_right ? list.push_back(call.words[i]) : list.push_front(call.words[i]);
  call.keys.notify(call.key(), at_the_right ? "rpush" : "lpush");
  return Value::of(std::ssize(list));
}

Value run_rpush(const CommandCall& call) {
  return push(call, true);
}

Value run_lpush(const CommandCall& call) {
  return push(call, false);
}

std::string popped_from(List& list, bool at_the_right) {
  std::string word = std::move(at_the_right ? list.back() : list.front());
  at_the_right ? list.pop_back() : list.pop_front();
  return word;
}

Value pop(const CommandCall& call, bool at_the_right) {
  const bool counted = call.words.size() > 2;
  std::int64_t count = counted ? integer_word(call.words[2]) : 1;
  if (count < 0) throw CommandError("ERR value is out of range, must be positive");
  List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return {};
  Words taken;
  for (; count > 0 && !list->empty(); --count) taken.push_back(popped_from(*list, at_the_right));
  if (!taken.empty()) call.keys.shrunk(call.key(), at_the_right ? "rpop" : "lpop");
  return counted ? bulk_array(std::move(taken)) : Value::of(taken.front());
}

Value run_rpop(const CommandCall& call) {
  return pop(call, true);
}

Value run_lpop(const CommandCall& call) {
  return pop(call, false);
}

Value run_llen(const CommandCall& call) {
  const List* list = call.keys.find<List>(call.key());
  return Value::of(list == nullptr ? 0 : std::ssize(*list));
}

Value run_lindex(const CommandCall& call) {
  std::int64_t place = integer_word(call.words[2]);
  const List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return {};
  if (place < 0) place += std::ssize(*list);
  if (place < 0 || place >= std::ssize(*list)) return {};
  return Value::of((*list)[static_cast<std::size_t>(place)]);
}

Value run_lrange(const CommandCall& call) {
  const std::int64_t first = integer_word(call.words[2]), last = integer_word(call.words[3]);
  const List* list = call.keys.find<List>(call.key());
  const auto range = list == nullptr ? std::nullopt : range_within(first, last, list->size());
  Words words;
  if (range)
    words.assign(list->begin() + static_cast<std::ptrdiff_t>(range->first),
                 list->begin() + static_cast<std::ptrdiff_t>(range->second) + 1);
  return bulk_array(std::move(words));
}

Value run_ltrim(const CommandCall& call) {
  const std::int64_t first = integer_word(call.words[2]), last = integer_word(call.words[3]);
  List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return Value::status("OK");
  ++call.keys.written;
  const auto range = range_within(first, last, list->size());
  if (range) {
    list->resize(range->second + 1);
    list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(range->first));
  } else {
    list->clear();
  }
  call.keys.shrunk(call.key(), "ltrim");
  return Value::status("OK");
}

/// Removes all copies (count 0), `count` copies from the left, or (negative) from the right.
Value run_lrem(const CommandCall& call) {
  const std::int64_t count = integer_word(call.words[2]);
  List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return Value::of(0);
  std::int64_t left = count == 0 ? std::ssize(*list) : std::abs(count), gone = 0;
  const auto goes = [&](const std::string& word) {
    if (left == 0 || word != call.words[3]) return false;
    --left;
    ++gone;
    return true;
  };
  if (count < 0) {
    List kept;
    for (auto word = list->rbegin(); word != list->rend(); ++word)
      if (!goes(*word)) kept.push_front(*word);
    *list = std::move(kept);
  } else {
    List kept;
    for (std::string& word : *list)
      if (!goes(word)) kept.push_back(std::move(word));
    *list = std::move(kept);
  }
  if (gone > 0) call.keys.shrunk(call.key(), "lrem");
  return Value::of(gone);
}

/// Returns the positions of `value` in the first `end` elements, or in the last ones if `rank` is
/// negative. Skips copies before that rank.
std::vector<std::int64_t> places_of(const List& list, const std::string& value, std::int64_t rank,
                                    std::int64_t end, std::size_t most) {
  std::vector<std::int64_t> places;
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < end && places.size() < most; ++i) {
    const std::int64_t at = rank < 0 ? std::ssize(list) - 1 - i : i;
    if (list[static_cast<std::size_t>(at)] == value && ++seen >= std::abs(rank))
      places.push_back(at);
  }
  return places;
}

Value run_lpos(const CommandCall& call) {
  std::int64_t rank = 1, most = 0;
  std::optional<std::int64_t> count;
  for (std::size_t i = 3; i + 1 < call.words.size(); i += 2) {
    const std::int64_t number = integer_word(call.words[i + 1]);
    if (call.words[i] == "RANK") {
      rank = number;
    } else if (call.words[i] == "MAXLEN") {
      most = number;
    } else if (call.words[i] == "COUNT") {
      count = number;
    } else {
      throw CommandError("ERR the simulation has no model of LPOS ... " + call.words[i]);
    }
  }
  const List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return count ? Value::array({}) : Value{};
  const std::int64_t end = most == 0 ? std::ssize(*list) : std::min(most, std::ssize(*list));
  const std::int64_t wanted = count.value_or(1);
  const auto places = places_of(*list, call.words[2], rank, end,
                                wanted == 0 ? list->size() : static_cast<std::size_t>(wanted));
  if (!count) return places.empty() ? Value{} : Value::of(places.front());
  std::vector<Value> all;
  for (const std::int64_t place : places) all.push_back(Value::of(place));
  return Value::array(std::move(all));
}

Value run_linsert(const CommandCall& call) {
  List* list = call.keys.find<List>(call.key());
  if (list == nullptr) return Value::of(0);
  auto place = std::find(list->begin(), list->end(), call.words[3]);
  if (place == list->end()) return Value::of(-1);
  if (call.words[2] == "AFTER") ++place;
  list->insert(place, call.words[4]);
  call.keys.notify(call.key(), "linsert");
  return Value::of(std::ssize(*list));
}

Value run_lset(const CommandCall& call) {
  List* list = call.keys.find<List>(call.key());
  if (list == nullptr) throw CommandError("ERR no such key");
  std::int64_t at = integer_word(call.words[2]);
  if (at < 0) at += std::ssize(*list);
  if (at < 0 || at >= std::ssize(*list)) throw CommandError("ERR index out of range");
  (*list)[static_cast<std::size_t>(at)] = call.words[3];
  call.keys.notify(call.key(), "lset");
  return Value::status("OK");
}

Value run_lmove(const CommandCall& call) {
  List* from = call.keys.find<List>(call.key());
  if (from == nullptr) return {};
  call.keys.find<List>(call.words[2]);  // checks the type before an element is removed
  const std::string word = popped_from(*from, call.words[3] == "RIGHT");
  List& to = call.key() == call.words[2] ? *from : call.keys.get<List>(call.words[2]);
  call.words[4] == "RIGHT" ? to.push_back(word) : to.push_front(word);
  call.keys.notify(call.words[2], call.words[4] == "RIGHT" ? "rpush" : "lpush");
  call.keys.shrunk(call.key(), call.words[3] == "RIGHT" ? "rpop" : "lpop");
  return Value::of(word);
}

}  // namespace

std::span<const CommandInfo> list_commands() {
  static constexpr auto all = std::to_array<CommandInfo>({
      {"RPUSH", -3, Effect::grows, run_rpush},
      {"LPUSH", -3, Effect::grows, run_lpush},
      {"RPOP", -2, Effect::writes, run_rpop},
      {"LPOP", -2, Effect::writes, run_lpop},
      {"LLEN", 2, Effect::reads, run_llen},
      {"LINDEX", 3, Effect::reads, run_lindex},
      {"LRANGE", 4, Effect::reads, run_lrange},
      {"LTRIM", 4, Effect::writes, run_ltrim},
      {"LREM", 4, Effect::writes, run_lrem},
      {"LSET", 4, Effect::grows, run_lset},
      {"LPOS", -3, Effect::reads, run_lpos},
      {"LINSERT", 5, Effect::grows, run_linsert},
      {"LMOVE", 5, Effect::grows, run_lmove},
  });
  return all;
}

}  // namespace w8y::sim
