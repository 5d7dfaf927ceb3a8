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
  for (const auto& [prefix, settings] : before.lists) {
    const auto now = after.lists.find(prefix);
    if (now == after.lists.end()) {
      plan.lists.push_back({ListChange::Kind::removed, prefix, {}});
    } else if (auto changes = compare(settings, now->second); !changes.empty()) {
      plan.lists.push_back({ListChange::Kind::changed, prefix, std::move(changes)});
    }
  }
  for (const auto& [prefix, settings] : after.lists) {
    if (!before.lists.contains(prefix)) plan.lists.push_back({ListChange::Kind::added, prefix, {}});
  }
  return plan;
}

}  // namespace w8y
