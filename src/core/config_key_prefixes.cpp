#include "core/config_key_prefixes.hpp"

#include <algorithm>
#include <memory>

#include "core/schedule_settings.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

/// Reports an error at a key of the list, or at the list if it does not set the key.
void wrong_at(const ConfigValue& list, const char* key, const std::string& text) {
  const Node* const own = list.node().find(key);
  own == nullptr ? list.wrong_key(text) : list.member(*own).wrong_key(text);
}

void check(const ConfigValue& list, const ListConfig& rule, const ListConfig& other) {
  const std::string owner = "list " + quote_start(other.prefix);
  const std::string shared = owner + " with the same key prefix";
  if (rule.kind() != SourceKind::schedule || other.kind() != SourceKind::schedule) {
    const bool named = rule.bare_key_prefix() == rule.prefix;
    return wrong_at(
        list, "key_prefix",
        "the key prefix " + quote_start(rule.bare_key_prefix()) + " belongs to " + owner +
            ": only schedules may share a key prefix; must " +
            (named ? "have another name" : "be another key prefix, set with key_prefix"));
  }
  const auto& codes = rule.schedule().queues;
  const auto& others = other.schedule().queues;
  for (const std::string& code : codes) {
    if (std::find(others.begin(), others.end(), code) == others.end()) continue;
    wrong_at(list, "queues",
             "the queue " + quote_start(code) + " belongs to " + shared +
                 "; must have other codes, or another key_prefix");
    break;
  }
  const std::string& timefile = rule.schedule().timefile;
  const std::string& other_file = other.schedule().timefile;
  if (timefile.empty() || other_file.empty() || timefile == other_file) return;
  wrong_at(list, "timefile",
           "is " + quote_start(timefile) + ", and that of " + shared + " is " +
               quote_start(other_file) + ": one dispatcher writes it; must be the same");
}

}  // namespace

void KeyPrefixes::add(const ConfigValue& list, const ListConfigPtr& rule) {
  std::vector<ListConfigPtr>& lists = lists_[rule->bare_key_prefix()];
  for (const ListConfigPtr& other : lists) check(list, *rule, *other);
  lists.push_back(rule);
}

void KeyPrefixes::share(Config& config) const {
  for (const auto& [prefix, lists] : lists_) {
    if (lists.size() < 2) continue;
    std::vector<ListConfigPtr> here;
    for (const ListConfigPtr& list : lists) here.push_back(config.lists.at(list->prefix));
    const auto name = [](const ListConfigPtr& list) -> const std::string& { return list->prefix; };
    std::ranges::sort(here, {}, name);
    const auto dispatcher = std::ranges::find_if(
        here, [](const ListConfigPtr& list) { return list->enabled && list->schedule().dispatch; });
    for (auto at = here.begin(); at != here.end(); ++at) {
      const auto list = std::make_shared<ListConfig>(**at);
      SharedKeyPrefix& shared = list->schedule().shared;
      shared = {.dispatches = at == dispatcher, .timefile = {}, .others = {}};
      for (const ListConfigPtr& other : here) {
        if (other == *at) continue;
        const ScheduleSettings& settings = other->schedule();
        if (shared.timefile.empty()) shared.timefile = settings.timefile;
        for (const std::string& code : settings.queues)
          if (shared.find(code) == nullptr)
            shared.others.push_back({code, settings.catch_up, other->prefix});
      }
      config.lists[list->prefix] = list;
    }
  }
}

}  // namespace w8y::core
