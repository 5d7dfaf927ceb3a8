#include "operator/known_lists.hpp"

#include "core/circular_settings.hpp"

namespace w8y::verbs {

namespace {

void share_key_prefixes(std::map<std::string, KnownList>& lists) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, list] : lists)
    if (list.kind == SourceKind::schedule) names[list.key_prefix.value_or(name)].push_back(name);
  for (auto& [name, list] : lists) {
    if (list.kind != SourceKind::schedule) continue;
    for (const std::string& other : names[list.key_prefix.value_or(name)]) {
      if (other == name) continue;
      const KnownList& of = lists.at(other);
      for (const std::string& code : of.queues)
        if (list.shared.find(code) == nullptr)
          list.shared.others.push_back({code, of.catch_up, other});
    }
  }
}

}  // namespace

KnownLists::KnownLists(std::map<std::string, KnownList> lists) {
  share_key_prefixes(lists);
  lists_ = std::move(lists);
}

std::optional<KnownList> KnownLists::find(const std::string& prefix) const {
  if (const auto* const lists = std::get_if<1>(&lists_)) {
    const auto found = lists->find(prefix);
    return found == lists->end() ? std::nullopt : std::optional(found->second);
  }
  const auto& config = *std::get<0>(lists_);
  const auto found = config.lists.find(prefix);
  if (found == config.lists.end()) return std::nullopt;
  const ListConfig& rule = *found->second;
  KnownList list;
  list.kind = rule.kind();
  if (list.kind == SourceKind::circular) list.lock_key = rule.circular().lock_key;
  if (list.kind == SourceKind::schedule) {
    list.key_prefix = rule.bare_key_prefix();
    list.shared = rule.schedule().shared;
    list.queues = rule.schedule().queues;
    list.catch_up = rule.schedule().catch_up;
  }
  if (list.kind == SourceKind::job) list.maintenance = store::thoonk::maintenance_terms(rule, {});
  return list;
}

std::vector<std::string> KnownLists::with_key_prefix(const std::string& key_prefix) const {
  std::vector<std::string> names;
  each([&](const std::string& name, SourceKind kind) {
    if (kind == SourceKind::schedule && find(name)->key_prefix == key_prefix) names.push_back(name);
  });
  return names;
}

void KnownLists::each(
    const std::function<void(const std::string& prefix, SourceKind kind)>& take) const {
  if (const auto* const lists = std::get_if<1>(&lists_)) {
    for (const auto& [prefix, list] : *lists) take(prefix, list.kind);
  } else {
    for (const auto& [prefix, rule] : std::get<0>(lists_)->lists) take(prefix, rule->kind());
  }
}

}  // namespace w8y::verbs
