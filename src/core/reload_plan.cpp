#include <algorithm>
#include <iterator>

#include <w8y/escape.hpp>
#include <w8y/reload_plan.hpp>

namespace w8y {

namespace {

std::vector<SettingChange> compare(const Settings& before, const Settings& after) {
  std::vector<SettingChange> changes;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    const std::string& text = now == after.end() ? std::string() : now->second;
    if (now == after.end() || now->second != value) changes.push_back({key, value, text});
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) changes.push_back({key, {}, value});
  }
  return changes;
}

/// Hands each list of either side to `visit`, with its entry on each side or null.
template <class Map, class Visit>
void walk(const Map& before, const Map& after, const Visit& visit) {
  auto was = before.begin();
  auto is = after.begin();
  while (was != before.end() || is != after.end()) {
    const bool gone = is == after.end() || (was != before.end() && was->first < is->first);
    const bool is_new = was == before.end() || (is != after.end() && is->first < was->first);
    visit(is_new ? nullptr : &*was, gone ? nullptr : &*is);
    if (!is_new) ++was;
    if (!gone) ++is;
  }
}

bool same(const Settings& before, const Settings& after) {
  return before == after;
}

bool same(const RulePtr& before, const RulePtr& after) {
  return before == after || *before == *after;
}

const Settings& text_of(const Settings& settings) {
  return settings;
}

Settings text_of(const RulePtr& rule) {
  return describe(*rule);
}

/// Those that are gone or changed, then those that are new; both by prefix.
template <class Lists>
std::vector<ListChange> compare_lists(const Lists& before, const Lists& after) {
  std::vector<ListChange> changes;
  std::vector<ListChange> added;
  walk(before, after, [&](const auto* was, const auto* is) {
    if (was == nullptr) {
      added.push_back({ListChange::Kind::added, is->first, {}});
    } else if (is == nullptr) {
      changes.push_back({ListChange::Kind::removed, was->first, {}});
    } else if (!same(was->second, is->second)) {
      changes.push_back({ListChange::Kind::changed, is->first,
                         compare(text_of(was->second), text_of(is->second))});
    }
  });
  std::move(added.begin(), added.end(), std::back_inserter(changes));
  return changes;
}

void append(std::vector<std::string>& lines, const std::string& where,
            const std::vector<SettingChange>& changes) {
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : text; };
  for (const auto& change : changes)
    lines.push_back(where + ": " + change.key + ": " + shown(change.before) + " -> " +
                    shown(change.after));
}

}  // namespace

bool ReloadPlan::empty() const {
  return redis.empty() && supervisor.empty() && lists.empty();
}

std::vector<std::string> ReloadPlan::lines() const {
  std::vector<std::string> lines;
  append(lines, "redis", redis);
  append(lines, "supervisor", supervisor);
  for (const auto& list : lists) {
    const std::string where = "lists." + escape_text(list.prefix);
    switch (list.kind) {
      case ListChange::Kind::added:
        lines.push_back(where + ": added");
        break;
      case ListChange::Kind::removed:
        lines.push_back(where + ": removed, its runs finish");
        break;
      case ListChange::Kind::changed:
        append(lines, where, list.settings);
        break;
    }
  }
  return lines;
}

ReloadPlan plan_reload(const ConfigText& before, const ConfigText& after) {
  ReloadPlan plan;
  plan.redis = compare(before.redis, after.redis);
  plan.supervisor = compare(before.supervisor, after.supervisor);
  plan.lists = compare_lists(before.lists, after.lists);
  return plan;
}

ReloadPlan plan_reload(const Config& before, const Config& after) {
  ReloadPlan plan;
  plan.redis = compare(describe(before.redis), describe(after.redis));
  plan.supervisor = compare(describe(before.supervisor), describe(after.supervisor));
  plan.lists = compare_lists(before.lists, after.lists);
  return plan;
}

void keep_unchanged(const Config& before, Config& after) {
  auto was = before.lists.begin();
  for (auto& [prefix, rule] : after.lists) {
    while (was != before.lists.end() && was->first < prefix) ++was;
    if (was == before.lists.end()) return;
    if (was->first == prefix && *was->second == *rule) rule = was->second;
  }
}

}  // namespace w8y
