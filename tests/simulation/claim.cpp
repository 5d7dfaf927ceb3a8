// claim.lua, as the model of the store has it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulation/scripts.hpp"

namespace w8y::sim {

namespace {

constexpr std::size_t first_run = 15;
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::string run_in(const std::string& note) {
  const std::string beginning = note.substr(0, 4096);
  const auto at = beginning.find("\"run\":\"");
  if (at == std::string::npos) return "manual";
  const auto first = at + 7;
  auto last = first;
  while (last < beginning.size() && std::isalnum(static_cast<unsigned char>(beginning[last])))
    ++last;
  return last > first && last < beginning.size() && beginning[last] == '"'
             ? beginning.substr(first, last - first)
             : "manual";
}

struct Claiming {
  const ScriptCall& call;
  Keys& keys = call.keys;
  const std::string& list = call.key[0];
  const std::string& line = call.key[6];
  const std::string& me = call.arg[1];
  std::int64_t limit = number(call.arg[3]);
  std::int64_t pass_left = number(call.arg[4]);
  std::int64_t held = number(call.arg[7]);
  bool hears = call.arg[9] == "1";
  std::int64_t most_bytes = number(call.arg[10]);
  std::int64_t piece = number(call.arg[11]);
  std::int64_t longest_taken = number(call.arg[12]);
  std::size_t told = static_cast<std::size_t>(number(call.arg[13]));
  std::int64_t want = static_cast<std::int64_t>(call.arg.size() - first_run);
  std::int64_t room = unlimited;
  bool capped = false;

  // the line
  std::int64_t others = 0;
  std::int64_t called = 0;
  bool in_line = false;
  bool my_turn = false;

  // what was seen
  std::int64_t length = 0;
  std::int64_t bytes = 0;
  std::int64_t longest = 0;
  Words taken = {};
  Words parked = {};
  Words locked = {};
  std::int64_t last_taken = 0;
  bool running = false;
  bool all_locked = pass_left >= 0;

  SortedSet* waiting() { return keys.find<SortedSet>(line); }

  void find_place() {
    SortedSet* found = waiting();
    if (found == nullptr) return;
    const auto now = static_cast<double>(keys.now_ms());
    Words over;
    for (const auto& [score, who] : found->order())
      if (score > -now && score < 0) over.push_back(who);
    for (const std::string& who : over) found->remove(who);
    keys.sweep(line);
    found = waiting();
    if (found == nullptr) {
      my_turn = false;
      return;
    }
    for (const auto& [score, who] : found->order()) called += score < 0 ? 1 : 0;
    others = static_cast<std::int64_t>(found->size());
    if (const auto place = found->rank(me)) {
      const auto rank = static_cast<std::int64_t>(*place);
      in_line = true;
      --others;
      my_turn = rank < called || rank + called == 0;
      if (rank < called) --called;
    }
  }

  void leave_line() {
    if (!in_line) return;
    if (SortedSet* found = waiting()) found->remove(me);
    keys.sweep(line);
  }

  std::string stand_in_line() {
    if (!hears) return {};
    if (my_turn) leave_line();
    SortedSet& found = keys.get<SortedSet>(line);
    if (!found.score(me)) found.add(me, static_cast<double>(keys.now_ms()));
    keys.expire(line, 60000);
    return ' ' + std::to_string(others);
  }

  void tell_others(std::int64_t count) {
    if (count <= 0) return;
    for (const std::string& who : call_from_line(keys, line, count))
      call.published.push_back({call.arg[8] + ':' + who, "free\n" + me});
  }

  /// Lua's loop: items from `first` on, as many as `count`, until `stop` bytes were read.
  Words read(std::int64_t first, std::int64_t count, double stop) {
    Words items;
    std::int64_t n = 0;
    std::int64_t sum = bytes, most_long = longest;
    while (n < count && static_cast<double>(sum) < stop) {
      const auto got = range_of(keys, list, first + n, first + std::min(n + piece, count) - 1);
      if (got.empty()) break;
      for (const std::string& item : got) {
        const auto size = static_cast<std::int64_t>(item.size());
        ++n;
        items.push_back(item);
        sum += size;
        most_long = std::max(most_long, size);
        if (static_cast<double>(sum) >= stop) break;
      }
      piece = std::clamp<std::int64_t>(262144 / (most_long + 1), 1, 64);
    }
    bytes = sum;
    longest = most_long;
    return items;
  }

  std::string name(const std::string& item) const { return call.arg[0] + item; }

  bool take_one(const std::string& item, std::int64_t place) {
    const std::string lock = name(item);
    if (has_field(keys, call.key[5], item)) {
      if (keys.exists(lock)) return false;
      keys.set(lock, "quarantine:" + run_in(keys.find<Hash>(call.key[5])->at(item)), std::nullopt,
               true);
    } else if (static_cast<std::int64_t>(item.size()) > longest_taken) {
      if (!keys.set(lock, "quarantine:" + call.arg[call.arg.size() - 1 - parked.size()],
                    std::nullopt, true))
        return false;
      parked.push_back(item);
      set_field(keys, call.key[5], item, call.arg[14]);
    } else if (keys.set(lock, me + call.arg[first_run + taken.size()], number(call.arg[2]), true)) {
      taken.push_back(item);
      last_taken = place;
    } else {
      return false;
    }
    return true;
  }

  void is_locked(const std::string& lock) {
    if (locked.size() < 16) locked.push_back(lock);
    running = running || keys.range(lock, 0, 3) == "run:";
  }

  bool all_of(const Words& items, std::int64_t first, std::int64_t last) {
    if (first == last) return false;
    for (auto i = first; i <= last; ++i)
      if (!keys.exists(name(items[static_cast<std::size_t>(i) - 1]))) return false;
    const auto end = std::min(last - 1, first + 15 - std::ssize(locked));
    for (auto i = first; i <= end; ++i)
      locked.push_back(name(items[static_cast<std::size_t>(i) - 1]));
    is_locked(name(items[static_cast<std::size_t>(last) - 1]));
    return true;
  }

  [[nodiscard]] bool enough() const { return std::ssize(taken) + std::ssize(parked) >= want; }

  std::int64_t take(const Words& items) {
    const auto size = static_cast<std::int64_t>(items.size());
    if (all_locked && size > 16 && all_of(items, 1, size)) return size;
    for (std::int64_t first = 1; first <= size; first += 16) {
      const std::int64_t last = std::min(first + 15, size);
      const bool may_be_locked = all_locked || !locked.empty();
      if (may_be_locked && all_of(items, first, last)) continue;
      for (std::int64_t i = first; i <= last; ++i) {
        const std::string& item = items[static_cast<std::size_t>(i) - 1];
        if (!take_one(item, i)) is_locked(name(item));
        if (std::ssize(taken) + std::ssize(parked) == want) return i;
      }
    }
    return size;
  }

  void note_visits() {
    if (taken.size() > 4 && !keys.exists(call.key[7])) return;
    Hash* notes = keys.find<Hash>(call.key[7]);
    if (notes == nullptr) return;
    for (const std::string& item : taken) {
      const auto note = notes->find(item);
      if (note == notes->end() || note->second.size() >= 128) continue;
      const std::int64_t last = number(note->second);
      const std::int64_t gap = last > 0 ? std::max<std::int64_t>(1, keys.now_ms() - last) : 0;
      note->second = std::to_string(keys.now_ms()) + ' ' + std::to_string(gap) + " 0";
    }
  }

  Value short_reply(const char* status, std::int64_t soon, std::string detail) {
    return Value::array(
        {Value::of(status), Value::of(0), Value::of(soon), Value::of(std::move(detail))});
  }

  std::optional<Value> before_the_list();
  std::optional<Value> share_with_others(bool& for_others);
  Value look_at_list(bool for_others);
  void scan(std::int64_t& left);
  Value reply(bool for_others, std::int64_t left, bool ends);
};

std::optional<Value> Claiming::before_the_list() {
  const std::int64_t pause = keys.ttl(call.key[4]);
  if (pause != -2) {
    if (SortedSet* found = waiting()) found->remove(me);
    keys.sweep(line);
    return short_reply("paused", pause, keys.range(call.key[4], 0, told - 1));
  }
  find_place();
  if (want == 0) {
    leave_line();
    if (my_turn && others > 0) tell_others(1);
    return short_reply("none", -1, "");
  }
  if (limit > 0) {
    SortedSet* slots = keys.find<SortedSet>(call.key[3]);
    std::int64_t used = 0;
    if (slots != nullptr) {
      while (slots->size() > 0 &&
             slots->order().begin()->first <= static_cast<double>(keys.now_ms()))
        slots->remove(std::string(slots->order().begin()->second));
      used = static_cast<std::int64_t>(slots->size());
      keys.sweep(call.key[3]);
    }
    room = limit - used;
    if (room <= 0) {
      const auto first =
          static_cast<std::int64_t>(keys.find<SortedSet>(call.key[3])->order().begin()->first);
      return short_reply("full", std::max<std::int64_t>(1, first - keys.now_ms()), stand_in_line());
    }
    if (room < want) {
      want = room;
      capped = true;
    }
  }
  const List* items = keys.find<List>(list);
  length = items == nullptr ? 0 : static_cast<std::int64_t>(items->size());
  if (length == 0) {
    leave_line();
    return short_reply("empty", -1, "");
  }
  return std::nullopt;
}

std::optional<Value> Claiming::share_with_others(bool& for_others) {
  if (others > 0 && hears) {
    const double share = static_cast<double>(limit > 0 ? std::min(limit, length) : length) /
                         static_cast<double>(others + 1);
    auto most_taken = static_cast<std::int64_t>(std::floor(share)) - held - called;
    const auto rounded = static_cast<std::int64_t>(std::ceil(share));
    if (my_turn) {
      most_taken = std::max<std::int64_t>(1, rounded - std::max<std::int64_t>(held, 0));
    } else if (held < 0) {
      most_taken = called == 0 ? std::max<std::int64_t>(1, rounded) : 0;
    }
    for_others = most_taken < want;
    want = std::min(want, std::max<std::int64_t>(most_taken, 0));
  }
  if (want > 0) return std::nullopt;
  const Words items = read(0, std::min<std::int64_t>(16, length), static_cast<double>(most_bytes));
  std::int64_t there = 0;
  for (const std::string& item : items) there += keys.exists(name(item)) ? 1 : 0;
  tell_others(std::min(std::ssize(items) - there, room) - called);
  return short_reply("none", -1, std::to_string(length) + stand_in_line());
}

void Claiming::scan(std::int64_t& left) {
  const std::int64_t most = number(call.arg[5]);
  const bool ends = pass_left == -2 && length > most;
  const std::int64_t at_right = ends ? most / 4 : 0;
  const std::int64_t at_left = std::min(left, most - at_right);
  const double left_bytes = static_cast<double>(most_bytes) * (ends ? 0.75 : 1);
  std::int64_t chunk = pass_left >= 0 ? most : want;
  std::int64_t looked = 0, turned = 0;
  Words seen_at_left;
  while (!enough() && looked < at_left && static_cast<double>(bytes) < left_bytes) {
    last_taken = 0;
    const Words items = read(looked, std::min(chunk, at_left - looked), left_bytes);
    const std::int64_t seen = take(items);
    const auto fresh = looked == 0 ? std::ssize(items) : seen;
    seen_at_left.insert(seen_at_left.end(), items.begin(), items.begin() + fresh);
    if (last_taken > 0) turned = looked + last_taken;
    looked += seen;
    all_locked = taken.empty();
    chunk *= 2;
    if (items.empty()) break;
  }
  if (!ends) turned = looked;
  if (ends && !enough()) {
    const std::int64_t from = keys.now_us % at_right, first = length - at_right;
    looked += take(read(first + from, at_right - from, static_cast<double>(most_bytes)));
    if (from > 0 && !enough()) looked += take(read(first, from, static_cast<double>(most_bytes)));
  }
  if (turned >= 1 && turned < length) {
    List& items = keys.get<List>(list);
    items.insert(items.end(), seen_at_left.begin(), seen_at_left.begin() + turned);
    items.erase(items.begin(), items.begin() + turned);
    keys.tell(list, turned > 1 ? "ltrim" : "rpush");
    if (turned > 1) keys.tell(list, "rpush");
    keys.tell(list, turned > 1 ? "ltrim" : "lpop");
  }
  left -= looked;
}

Value Claiming::look_at_list(bool for_others) {
  const std::int64_t most = number(call.arg[5]);
  const bool ends = pass_left == -2 && length > most;
  std::int64_t left = pass_left < 0 || pass_left > length ? length : pass_left;
  scan(left);
  return reply(for_others, left, ends);
}

Value Claiming::reply(bool for_others, std::int64_t left, bool ends) {
  std::string status = "ok", detail;
  std::int64_t soon_ms = -1;
  if (std::ssize(taken) < want) {
    const bool cut = !taken.empty() && (bytes >= most_bytes || !parked.empty());
    status = left > 0 && (cut || !ends) ? "more" : "none";
    detail = std::to_string(length);
    const std::size_t hints =
        status == "none" ? locked.size() : std::min<std::size_t>(locked.size(), 4);
    for (std::size_t i = 0; i < hints; ++i) {
      const std::int64_t ttl = keys.ttl(locked[i]);
      if (ttl >= 0 && (soon_ms < 0 || ttl < soon_ms)) soon_ms = ttl;
    }
  } else if (for_others) {
    status = "none";
    left = 0;
    detail = std::to_string(length);
  } else if (capped) {
    status = "full";
  }
  if (status == "none" || status == "full") {
    const bool soon = soon_ms >= 0 && soon_ms < 5000;
    if (others > 0 || running || soon || capped) {
      detail += stand_in_line();
    } else {
      leave_line();
    }
    const SortedSet* found = waiting();
    const auto rank = found == nullptr ? std::nullopt : found->rank(me);
    if (others > 0 && (!rank || *rank != 0)) soon_ms = -1;
  } else if (status == "ok") {
    leave_line();
  }
  std::vector<Value> told_of{
      Value::of(status),  Value::of(left),  Value::of(soon_ms),           Value::of(detail),
      Value::of(longest), Value::of(bytes), Value::of(std::ssize(parked))};
  for (const std::string& item : parked) {
    told_of.push_back(Value::of(item.substr(0, told)));
    told_of.push_back(Value::of(std::ssize(item)));
  }
  if (!taken.empty()) {
    note_visits();
    const std::int64_t fence = next_fence(keys, call.key[1], std::ssize(taken));
    const std::int64_t life = number(call.arg[2]);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      told_of.push_back(Value::of(taken[i]));
      told_of.push_back(Value::of(fence + static_cast<std::int64_t>(i)));
      told_of.push_back(Value::of(failures_of(keys, call.key[2], taken[i])));
      if (limit > 0)
        take_place(keys, call.key[3], call.arg[first_run + i], keys.now_ms() + life, life);
    }
  }
  return Value::array(std::move(told_of));
}

}  // namespace

Value claim(const ScriptCall& call) {
  Claiming claiming{call};
  if (auto answer = claiming.before_the_list()) return *answer;
  bool for_others = false;
  if (auto answer = claiming.share_with_others(for_others)) return *answer;
  return claiming.look_at_list(for_others);
}

}  // namespace w8y::sim
