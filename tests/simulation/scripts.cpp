// What several scripts do, and those that are short.
#include "simulation/scripts.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

namespace lua = store::scripts;

const std::array<std::pair<const redis::Script*, Script>, 11>& known() {
  static const std::array<std::pair<const redis::Script*, Script>, 11> all{{
      {&lua::claim, claim},
      {&lua::claim_item, claim_item},
      {&lua::undo, undo},
      {&lua::renew, renew},
      {&lua::settle, settle},
      {&lua::look, look},
      {&lua::sweep, sweep},
      {&lua::quarantine, quarantine},
      {&lua::release, release},
      {&lua::add, add_items},
      {&lua::remove, remove_items},
  }};
  return all;
}

constexpr std::int64_t turn_ms = 250;
constexpr std::int64_t day_ms = 86'400'000;

bool is_rest(const std::string& lock) {
  return lock.starts_with("rest:") || lock.starts_with("quarantine:");
}

}  // namespace

Script script_of_text(std::string_view text) {
  for (const auto& [script, model] : known())
    if (script->text == text) return model;
  return nullptr;
}

Script script_of_digest(std::string_view sha1) {
  for (const auto& [script, model] : known())
    if (script->sha1 == sha1) return model;
  return nullptr;
}

std::string digest_of(Script script) {
  for (const auto& [known_script, model] : known())
    if (model == script) return std::string(known_script->sha1);
  return {};
}

std::int64_t number(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

std::vector<std::string> range_of(Keys& keys, const std::string& list, std::int64_t first,
                                  std::int64_t last) {
  const List* items = keys.find<List>(list);
  if (items == nullptr) return {};
  const auto size = static_cast<std::int64_t>(items->size());
  if (first < 0) first = std::max<std::int64_t>(first + size, 0);
  if (last < 0) last += size;
  last = std::min(last, size - 1);
  if (first > last) return {};
  return {items->begin() + first, items->begin() + last + 1};
}

bool is_listed(Keys& keys, const std::string& list, const std::string& item) {
  const List* items = keys.find<List>(list);
  return items != nullptr && std::find(items->begin(), items->end(), item) != items->end();
}

bool has_field(Keys& keys, const std::string& hash, const std::string& field) {
  const Hash* fields = keys.find<Hash>(hash);
  return fields != nullptr && fields->contains(field);
}

void set_field(Keys& keys, const std::string& hash, const std::string& field,
               const std::string& value) {
  keys.get<Hash>(hash)[field] = value;
}

void remove_field(Keys& keys, const std::string& hash, const std::string& field) {
  Hash* fields = keys.find<Hash>(hash);
  if (fields == nullptr) return;
  fields->erase(field);
  keys.sweep(hash);
}

std::int64_t next_fence(Keys& keys, const std::string& fence, std::int64_t count) {
  const auto* last = keys.find<std::string>(fence);
  const std::int64_t next = std::max(last == nullptr ? 1 : number(*last) + 1, keys.now_us);
  keys.set(fence, std::to_string(next + count - 1), std::nullopt, false);
  return next;
}

std::int64_t failures_of(Keys& keys, const std::string& failures, const std::string& item) {
  const Hash* counts = keys.find<Hash>(failures);
  if (counts == nullptr || !counts->contains(item)) return 0;
  return number(counts->at(item));
}

void take_place(Keys& keys, const std::string& slots, const std::string& run, std::int64_t until_ms,
                std::int64_t life_ms) {
  keys.get<SortedSet>(slots).add(run, static_cast<double>(until_ms));
  keys.expire(slots, std::max(day_ms, 2 * life_ms));
}

std::vector<std::string> call_from_line(Keys& keys, const std::string& line, std::int64_t count) {
  SortedSet* waiting = keys.find<SortedSet>(line);
  std::vector<std::string> called;
  if (waiting == nullptr) return called;
  for (const auto& [score, who] : waiting->order()) {
    if (static_cast<std::int64_t>(called.size()) >= count) break;
    if (score >= 0) called.push_back(who);
  }
  for (const std::string& who : called)
    waiting->add(who, -static_cast<double>(keys.now_ms() + turn_ms));
  return called;
}

Value claim_item(const ScriptCall& call) {
  Keys& keys = call.keys;
  const auto told = static_cast<std::size_t>(number(call.arg[5]));
  const std::string& lock = call.key[6];
  const std::string& item = call.arg[3];
  const auto refused = [](const char* status, std::string detail) {
    return Value::array(
        {Value::of(status), Value::of(std::move(detail)), Value::of(0), Value::of(0)});
  };
  if (keys.exists(call.key[4])) return refused("paused", keys.range(call.key[4], 0, told - 1));
  if (!is_listed(keys, call.key[0], item)) return refused("not_listed", "");
  if (keys.exists(lock)) {
    const std::string found = keys.range(lock, 0, told - 1);
    if (found.starts_with("quarantine:")) return refused("quarantined", "");
    if (!found.starts_with("rest:")) return refused("running", found);
  }
  if (has_field(keys, call.key[5], item)) return refused("quarantined", "");
  const std::int64_t limit = number(call.arg[2]);
  const std::int64_t life = number(call.arg[1]);
  if (limit > 0) {
    if (SortedSet* slots = keys.find<SortedSet>(call.key[3])) {
      while (slots->size() > 0 &&
             slots->order().begin()->first <= static_cast<double>(keys.now_ms()))
        slots->remove(std::string(slots->order().begin()->second));
      const auto taken = static_cast<std::int64_t>(slots->size());
      keys.sweep(call.key[3]);
      if (taken >= limit) return refused("full", "");
    }
  }
  keys.set(lock, call.arg[0], life, false);
  const std::int64_t fence = next_fence(keys, call.key[1], 1);
  const std::int64_t failures = failures_of(keys, call.key[2], item);
  if (limit > 0) take_place(keys, call.key[3], call.arg[4], keys.now_ms() + life, life);
  return Value::array({Value::of("ok"), Value::of(""), Value::of(fence), Value::of(failures)});
}

Value undo(const ScriptCall& call) {
  Keys& keys = call.keys;
  constexpr std::size_t first_run = 7;
  const std::int64_t before = number(call.arg[2]);
  const std::int64_t most = number(call.arg[3]);
  const std::int64_t most_bytes = number(call.arg[4]);
  std::int64_t piece = number(call.arg[5]);
  std::size_t missing = call.arg.size() - first_run;
  std::int64_t looked = 0, bytes = 0, longest = 0, whole = 0;
  std::vector<Value> freed;
  while (looked < most && bytes < most_bytes && missing > 0) {
    const std::int64_t last = before + looked;
    const std::int64_t count = std::min(piece, most - looked);
    const List* list = keys.find<List>(call.key[0]);
    const auto length = list == nullptr ? 0 : static_cast<std::int64_t>(list->size());
    // LRANGE with a first index before the list begins with its first item.
    const auto items = last >= length ? std::vector<std::string>()
                                      : range_of(keys, call.key[0], -(last + count), -(last + 1));
    std::int64_t named = 0;
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      ++named;
      bytes += static_cast<std::int64_t>(item->size());
      longest = std::max(longest, static_cast<std::int64_t>(item->size()));
      const std::string lock = call.arg[0] + *item;
      const std::string found = keys.range(lock, 0, call.arg[1].size() + 26);
      for (std::size_t i = first_run; i < call.arg.size(); ++i) {
        if (found != call.arg[1] + call.arg[i]) continue;
        keys.remove(lock);
        if (SortedSet* slots = keys.find<SortedSet>(call.key[1])) {
          slots->remove(call.arg[i]);
          keys.sweep(call.key[1]);
        }
        freed.push_back(Value::of(call.arg[i]));
        --missing;
        break;
      }
      if (bytes >= most_bytes) break;
    }
    looked += named;
    if (static_cast<std::int64_t>(items.size()) < count &&
        named == static_cast<std::int64_t>(items.size())) {
      whole = 1;
      break;
    }
    piece = std::clamp<std::int64_t>(262144 / (longest + 1), 1, 64);
  }
  if (!freed.empty()) call.published.push_back({call.arg[6], "free"});
  std::vector<Value> reply{Value::of(looked), Value::of(whole), Value::of(bytes),
                           Value::of(longest)};
  reply.insert(reply.end(), freed.begin(), freed.end());
  return Value::array(std::move(reply));
}

Value renew(const ScriptCall& call) {
  Keys& keys = call.keys;
  const std::int64_t expiry = number(call.arg[0]);
  const bool fleet = call.arg[1] == "1";
  const bool retakes = keys.now_ms() < number(call.arg[2]);
  std::vector<Value> reply{Value::of(keys.now_ms())};
  for (std::size_t i = 1; i < call.key.size(); ++i) {
    const std::string& lock = call.key[i];
    const std::string& value = call.arg[i + 2];
    std::int64_t state = 0;
    if (!keys.exists(lock)) {
      state = 3;
      if (retakes) {
        keys.set(lock, value, expiry, true);
        state = 2;
      }
    } else if (keys.range(lock, 0, value.size()) == value) {
      keys.expire(lock, expiry);
      state = 1;
    }
    if (fleet && (state == 1 || state == 2))
      keys.get<SortedSet>(call.key[0])
          .add(value.substr(value.size() - std::min<std::size_t>(value.size(), 26)),
               static_cast<double>(keys.now_ms() + expiry));
    reply.push_back(Value::of(state));
  }
  if (fleet) keys.expire(call.key[0], std::max(day_ms, 2 * expiry));
  return Value::array(std::move(reply));
}

Value look(const ScriptCall& call) {
  Keys& keys = call.keys;
  const auto lists = static_cast<std::int64_t>(call.key.size());
  const std::int64_t stop = number(call.arg[0]);
  std::int64_t bytes = 0;
  std::vector<std::int64_t> reply(call.key.size(), 0);
  std::vector<std::pair<std::string, std::size_t>> names;
  const std::int64_t from = keys.now_us % 1'000'000 % lists;
  for (std::int64_t i = 1; i <= lists; ++i) {
    const auto k = static_cast<std::size_t>((from + i) % lists);
    const std::size_t at = 1 + k * 4;
    const List* list = keys.find<List>(call.key[k]);
    const auto length = list == nullptr ? 0 : static_cast<std::int64_t>(list->size());
    if (length != number(call.arg[at + 1])) {
      reply[k] = 1;
      continue;
    }
    const std::int64_t first = number(call.arg[at + 2]), count = number(call.arg[at + 3]);
    const double most = static_cast<double>(bytes) + static_cast<double>(stop - bytes) / 2;
    std::int64_t piece = 1;
    while (reply[k] > -count && static_cast<double>(bytes) < most) {
      const std::int64_t next = first - reply[k];
      const auto items =
          range_of(keys, call.key[k], next, next + std::min(piece, count + reply[k]) - 1);
      if (items.empty()) break;
      std::int64_t longest = 0;
      for (const std::string& item : items) {
        names.emplace_back(call.arg[at] + item, k);
        const auto size = static_cast<std::int64_t>(item.size());
        bytes += size;
        --reply[k];
        longest = std::max(longest, size);
        if (static_cast<double>(bytes) >= most) break;
      }
      piece = std::clamp<std::int64_t>(262144 / (longest + 1), 1, 64);
    }
  }
  for (const auto& [name, k] : names)
    if (!keys.exists(name)) reply[k] = 1;
  std::vector<Value> told;
  for (const std::int64_t each : reply) told.push_back(Value::of(each));
  told.push_back(Value::of(bytes));
  return Value::array(std::move(told));
}

/// All entries are looked at: there are no more of them than the script chooses.
Value sweep(const ScriptCall& call) {
  Keys& keys = call.keys;
  std::int64_t forgotten = 0;
  const auto forget = [&](const std::string& list, const std::string& hash,
                          const std::vector<std::string>& prefixes) {
    const Hash* found = keys.find<Hash>(hash);
    if (found == nullptr) return;
    Words gone;
    for (const auto& [item, value] : *found)
      if (!is_listed(keys, list, item)) gone.push_back(item);
    for (const std::string& item : gone) {
      for (const std::string& prefix : prefixes)
        if (keys.range(prefix + item, 0, 10) == "quarantine:") keys.remove(prefix + item);
      remove_field(keys, hash, item);
      ++forgotten;
    }
  };
  const std::size_t lists = call.key.size() / 3;
  for (std::size_t k = 0; k < lists; ++k) {
    forget(call.key[3 * k], call.key[3 * k + 1], {});
    forget(call.key[3 * k], call.key[3 * k + 2], {call.arg[2 * k + 1], call.arg[2 * k + 2]});
  }
  return Value::array({Value::of(static_cast<std::int64_t>(lists)), Value::of(forgotten)});
}

Value quarantine(const ScriptCall& call) {
  Keys& keys = call.keys;
  std::vector<Value> reply;
  for (std::size_t i = 1; i < call.arg.size(); ++i) {
    const std::string& lock = call.key[i + 1];
    const std::string& item = call.arg[i];
    const bool held = keys.exists(lock);
    const std::string found = keys.range(lock, 0, 10);
    const bool indexed = has_field(keys, call.key[1], item);
    std::int64_t state = 1;
    if (!is_listed(keys, call.key[0], item)) {
      state = 0;
    } else if (held && found == "quarantine:") {
      state = 2;
    } else if (held && !found.starts_with("rest:")) {
      state = indexed ? 4 : 3;
    }
    if (state == 1) keys.set(lock, "quarantine:manual", std::nullopt, false);
    if (state == 1 || state == 3 || (state == 2 && !indexed))
      set_field(keys, call.key[1], item, call.arg[0]);
    reply.push_back(Value::of(state));
  }
  return Value::array(std::move(reply));
}

Value release(const ScriptCall& call) {
  Keys& keys = call.keys;
  std::vector<Value> reply;
  Words locks, items, forget;
  bool released = false;
  for (std::size_t i = 1; i < call.arg.size(); ++i) {
    const std::string& item = call.arg[i];
    const std::string& own = call.key[2 * i + 1];
    const std::string& other = call.key[2 * i + 2];
    const bool indexed = has_field(keys, call.key[2], item);
    std::int64_t state = 3;
    if (is_rest(keys.range(own, 0, 10))) {
      locks.push_back(own);
      state = 1;
    } else if (!keys.exists(own)) {
      state = indexed ? 1 : is_listed(keys, call.key[0], item) ? 2 : 0;
    } else if (indexed) {
      state = 4;
    }
    if (is_rest(keys.range(other, 0, 10))) {
      locks.push_back(other);
      if (state == 0 || state == 2) state = 1;
    }
    released = released || state == 1;
    if (indexed) items.push_back(item);
    if (state < 3) forget.push_back(item);
    reply.push_back(Value::of(state));
  }
  if (released) call.published.push_back({call.arg[0], "free"});
  for (const std::string& lock : locks) keys.remove(lock);
  for (const std::string& item : items) remove_field(keys, call.key[2], item);
  for (const std::string& item : forget) remove_field(keys, call.key[1], item);
  return Value::array(std::move(reply));
}

}  // namespace w8y::sim
