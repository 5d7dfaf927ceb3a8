#include "core/reload_plan.hpp"

#include <iterator>

#include "core/escape.hpp"

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

/// Compares secrets that both sides have. A secret on one side only is visible in the text of the
/// settings.
void compare_secrets(const Secrets& before, const Secrets& after,
                     std::vector<SettingChange>& changes) {
  for (const auto& [key, secret] : after) {
    const auto was = before.find(key);
    if (was != before.end() && was->second != secret) changes.push_back({key, {}, {}, true});
  }
}

/// Calls `visit` for each list of `before` or `after`, with its entries in both. An entry is
/// nullptr if the list is missing there.
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

bool same(const ListConfigPtr& before, const ListConfigPtr& after) {
  return before == after || *before == *after;
}

std::vector<SettingChange> changes_of(const Settings& before, const Settings& after) {
  return compare(before, after);
}

std::vector<SettingChange> changes_of(const ListConfigPtr& before, const ListConfigPtr& after) {
  std::vector<SettingChange> changes = compare(describe(*before), describe(*after));
  compare_secrets(secrets_of(*before), secrets_of(*after), changes);
  return changes;
}

/// Returns removed and changed lists, then new ones; both by prefix.
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
      std::vector<SettingChange> settings = changes_of(was->second, is->second);
      if (!settings.empty())
        changes.push_back({ListChange::Kind::changed, is->first, std::move(settings)});
    }
  });
  std::move(added.begin(), added.end(), std::back_inserter(changes));
  return changes;
}

void append(std::vector<std::string>& lines, const std::string& where,
            const std::vector<SettingChange>& changes) {
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : text; };
  for (const auto& change : changes) {
    const std::string what =
        change.secret ? "changed" : shown(change.before) + " -> " + shown(change.after);
    lines.push_back(where + ": " + change.key + ": " + what);
  }
}

}  // namespace

bool ReloadPlan::empty() const {
  return redis.empty() && gearman.empty() && supervisor.empty() && lists.empty();
}

std::vector<std::string> ReloadPlan::lines() const {
  std::vector<std::string> lines;
  append(lines, "redis", redis);
  append(lines, "gearman", gearman);
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
  plan.gearman = compare(before.gearman, after.gearman);
  plan.supervisor = compare(before.supervisor, after.supervisor);
  plan.lists = compare_lists(before.lists, after.lists);
  return plan;
}

ReloadPlan plan_reload(const Config& before, const Config& after) {
  const Wiping wiping;
  ReloadPlan plan;
  plan.redis = compare(describe_redis(before), describe_redis(after));
  compare_secrets(secrets_of(before.redis), secrets_of(after.redis), plan.redis);
  plan.gearman = compare(describe(before.gearman), describe(after.gearman));
  plan.supervisor = compare(describe(before.supervisor), describe(after.supervisor));
  plan.lists = compare_lists(before.lists, after.lists);
  return plan;
}

std::vector<std::string> differing_lists(const Config& before, const Config& after) {
  std::vector<std::string> names;
  walk(before.lists, after.lists, [&](const auto* was, const auto* is) {
    if (was != nullptr && is != nullptr && !same(was->second, is->second))
      names.push_back(is->first);
  });
  return names;
}

std::vector<SecretQuestion> secrets_to_compare(const ConfigText& before, const Config& after,
                                               std::string_view salt) {
  const Wiping wiping;
  std::vector<SecretQuestion> questions;
  for (const auto& [key, secret] : secrets_of(after.redis))
    questions.push_back({std::nullopt, key, secret_digest(salt, secret)});
  for (const auto& [prefix, rule] : after.lists) {
    if (!before.lists.contains(prefix)) continue;
    for (const auto& [key, secret] : secrets_of(*rule))
      questions.push_back({prefix, key, secret_digest(salt, secret)});
  }
  return questions;
}

SecretAnswer compare_secret(const Config& config, const SecretQuestion& question,
                            std::string_view salt) {
  const Wiping wiping;
  Secrets secrets;
  if (!question.list) {
    secrets = secrets_of(config.redis);
  } else if (const auto rule = config.lists.find(*question.list); rule != config.lists.end()) {
    secrets = secrets_of(*rule->second);
  }
  const auto secret = secrets.find(question.key);
  if (secret == secrets.end()) return SecretAnswer::none;
  return secret_digest(salt, secret->second) == question.digest ? SecretAnswer::same
                                                                : SecretAnswer::changed;
}

void add_changed_secret(ReloadPlan& plan, const SecretQuestion& question) {
  const SettingChange change{question.key, {}, {}, true};
  if (!question.list) {
    plan.redis.push_back(change);
    return;
  }
  // By prefix, except for new lists, which are last.
  auto at = plan.lists.begin();
  while (at != plan.lists.end() && at->kind != ListChange::Kind::added &&
         at->prefix < *question.list)
    ++at;
  if (at == plan.lists.end() || at->prefix != *question.list)
    at = plan.lists.insert(at, {ListChange::Kind::changed, *question.list, {}});
  at->settings.push_back(change);
}

void keep_unchanged(const Config& before, Config& after) {
  if (after.redis.url == before.redis.url) after.redis.url = before.redis.url;  // one copy
  auto was = before.lists.begin();
  for (auto& [prefix, rule] : after.lists) {
    while (was != before.lists.end() && was->first < prefix) ++was;
    if (was == before.lists.end()) return;
    if (was->first == prefix && *was->second == *rule) rule = was->second;
  }
}

}  // namespace w8y
