// settle.lua, as the model of the store has it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "simulation/scripts.hpp"

namespace w8y::sim {

namespace {

struct EndKind {
  std::string holder;
  std::string becomes;
  std::int64_t life = 0;
  std::string note;
  std::string failures;
  bool again = false;
  bool stale = false;
  std::int64_t history = 0;
};

struct End {
  const EndKind* kind = nullptr;
  std::string run;
  std::string lock;
  std::string item;
  std::string message;
  std::string more;
  std::string becomes;
  std::int64_t life = 0;
  std::string failures;
  bool ours = false;
  bool parks = false;
  bool unparks = false;
};

struct Settling {
  const ScriptCall& call;
  Keys& keys = call.keys;
  std::vector<EndKind> kinds = {};
  std::vector<End> ends = {};

  void read() {
    std::size_t at = 4;
    for (auto left = number(call.arg[3]); left > 0; --left, at += 8)
      kinds.push_back({call.arg[at], call.arg[at + 1], number(call.arg[at + 2]), call.arg[at + 3],
                       call.arg[at + 4], call.arg[at + 5] == "1", call.arg[at + 6] == "1",
                       number(call.arg[at + 7])});
    for (std::size_t i = 5; i + 1 < call.key.size(); ++i, at += 4) {
      End end;
      end.kind = &kinds[static_cast<std::size_t>(number(call.arg[at])) - 1];
      end.run = call.arg[at + 1];
      end.message = call.arg[at + 2];
      end.more = call.arg[at + 3];
      end.lock = call.key[i];
      end.item = end.lock.substr(call.arg[2].size());
      ends.push_back(std::move(end));
    }
  }

  void decide(End& end) {
    const EndKind& kind = *end.kind;
    const std::string value = kind.holder + end.run;
    end.becomes = kind.becomes;
    end.life = kind.life;
    end.failures = kind.failures;
    end.ours = keys.range(end.lock, 0, value.size()) == value;
    const bool ordered = has_field(keys, call.key[4], end.item);
    const bool counts = end.ours && !kind.stale;
    if (!counts) end.failures = "keep";
    if (end.ours && ordered) {
      end.becomes = "quarantine:" + end.run;
      end.life = 0;
    } else if (!counts) {
      const bool free = end.ours || !(kind.again || ordered || keys.exists(end.lock));
      if (end.becomes != "rest:cooldown" || !free) end.becomes.clear();
    }
    if (end.ours && !end.becomes.empty() && end.life == 0) {
      const bool listed = is_listed(keys, call.key[3], end.item);
      if (!listed) {
        end.becomes.clear();
        end.failures = "reset";
      }
      end.unparks = ordered && !listed;
      end.parks = listed && !ordered;
    }
  }

  [[nodiscard]] bool noted(const std::string& run) {
    const List* entries = keys.find<List>(call.key[2]);
    if (entries == nullptr) return false;
    const auto last = entries->begin() + std::min<std::ptrdiff_t>(100, std::ssize(*entries));
    return std::any_of(entries->begin(), last, [&](const std::string& entry) {
      return entry.find("\"run\":\"" + run + "\"") != std::string::npos;
    });
  }

  void write_history(std::vector<std::string>&& entries, std::int64_t most) {
    if (entries.empty()) return;
    List& runs = keys.get<List>(call.key[2]);
    char begin[64];
    std::snprintf(begin, sizeof begin, "{\"entered_ms\":%lld,",
                  static_cast<long long>(keys.now_ms()));
    for (auto i = std::ssize(entries) - 1; i >= 0; i -= 32)
      entries[static_cast<std::size_t>(i)].replace(0, 1, begin);
    const std::int64_t last = most - std::ssize(entries) - 1;
    if (last < 0) {
      runs.clear();
    } else if (std::ssize(runs) > last + 1) {
      runs.resize(static_cast<std::size_t>(last + 1));
    }
    const auto first = std::max<std::int64_t>(0, std::ssize(entries) - most);
    for (auto entry = entries.begin() + first; entry != entries.end(); ++entry)
      runs.push_front(*entry);
    keys.sweep(call.key[2]);
  }

  void record() {
    std::vector<std::string> entries, reset;
    std::int64_t most = 0;
    // What is known of the history is read once.
    std::map<std::string, bool> known;
    for (const End& end : ends)
      if (end.kind->again) known[end.run] = noted(end.run);
    for (const End& end : ends) {
      if (end.failures == "reset") {
        reset.push_back(end.item);
      } else if (end.failures == "increment") {
        set_field(keys, call.key[0], end.item,
                  std::to_string(failures_of(keys, call.key[0], end.item) + 1));
      }
      if (end.parks) set_field(keys, call.key[4], end.item, end.kind->note);
      if (end.unparks) remove_field(keys, call.key[4], end.item);
      const bool written = end.kind->history != 0;
      if (end.message.empty() || (end.kind->again && written && known[end.run])) continue;
      if (written) {
        std::string& entry = entries.emplace_back(end.message);
        if (!end.more.empty()) entry.replace(entry.size() - 1, 1, end.more + '}');
        most = end.kind->history;
      }
      call.published.push_back({call.arg[0], end.message});
    }
    for (const std::string& item : reset) remove_field(keys, call.key[0], item);
    write_history(std::move(entries), most);
  }
};

}  // namespace

Value settle(const ScriptCall& call) {
  Keys& keys = call.keys;
  Settling settling{call};
  settling.read();
  std::int64_t ours = 0, freed = 0;
  for (End& end : settling.ends) {
    settling.decide(end);
    ours += end.ours ? 1 : 0;
  }
  for (const End& end : settling.ends)
    if (end.becomes.empty() && end.ours) {
      keys.remove(end.lock);
      ++freed;
    }
  for (const End& end : settling.ends)
    if (!end.becomes.empty())
      keys.set(end.lock, end.becomes, end.life != 0 ? std::optional(end.life) : std::nullopt,
               !end.ours);
  settling.record();
  std::int64_t places = 0;
  if (SortedSet* slots = keys.find<SortedSet>(call.key[1])) {
    for (const End& end : settling.ends) places += slots->remove(end.run) ? 1 : 0;
    keys.sweep(call.key[1]);
  }
  if (freed > 0 || places > 0) {
    const std::string news = "free\n" + settling.kinds.front().holder;
    const Words first = call_from_line(keys, call.key.back(), std::max(freed, places));
    for (const std::string& who : first) call.published.push_back({call.arg[1] + ':' + who, news});
    if (first.empty()) call.published.push_back({call.arg[1], news});
  }
  return Value::array({Value::of(ours), Value::of("")});
}

}  // namespace w8y::sim
