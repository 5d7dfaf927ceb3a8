#include "operator/known_lists.hpp"

#include "operator/kinds.hpp"

namespace w8y::verbs {

namespace {

void share_key_prefixes(std::map<std::string, KnownList>& lists) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, list] : lists)
    if (list.kind->has_key_prefix) names[list.key_prefix.value_or(name)].push_back(name);
  for (auto& [name, list] : lists) {
    if (!list.kind->has_key_prefix) continue;
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
  list.kind = &rule.traits();
  if (const auto copy = verbs_of(*list.kind).copy_settings; copy != nullptr) copy(rule, list);
  return list;
}

std::vector<std::string> KnownLists::with_key_prefix(const std::string& key_prefix) const {
  std::vector<std::string> names;
  each([&](const std::string& name, const KindTraits& kind) {
    if (kind.has_key_prefix && find(name)->key_prefix == key_prefix) names.push_back(name);
  });
  return names;
}

void KnownLists::each(
    const std::function<void(const std::string& prefix, const KindTraits& kind)>& take) const {
  if (const auto* const lists = std::get_if<1>(&lists_)) {
    for (const auto& [prefix, list] : *lists) take(prefix, *list.kind);
  } else {
    for (const auto& [prefix, rule] : std::get<0>(lists_)->lists) take(prefix, rule->traits());
  }
}

}  // namespace w8y::verbs
