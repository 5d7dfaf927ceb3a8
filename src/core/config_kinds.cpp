#include "core/config_kinds.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/circular_settings.hpp"
#include "core/config_gearman.hpp"
#include "core/gearman_settings.hpp"
#include "core/schedule_settings.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace w8y::core {

namespace {

/// Reports an error at a key of the list, or at the list if it does not set the key.
void wrong_at(const ConfigValue& list, const char* key, const std::string& text) {
  const Node* const own = list.node().find(key);
  own == nullptr ? list.wrong_key(text) : list.member(*own).wrong_key(text);
}

void check_pair(const ConfigValue& list, const ListConfig& rule, const ListConfig& other) {
  const std::string owner = "list " + quote_start(other.prefix);
  const std::string shared = owner + " with the same key prefix";
  if (!rule.traits().has_key_prefix || !other.traits().has_key_prefix) {
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

void warn_of_late_visits(const ConfigValue& list, ListConfig& rule) {
  const CircularSettings& settings = std::as_const(rule).circular();
  if (settings.overdue_after == Duration{0} || settings.overdue_after > settings.cooldown) return;
  list.warn("has an overdue_after of " + format_duration(settings.overdue_after) +
            ", but a cooldown of " + format_duration(settings.cooldown) +
            "; overdue_after must be longer, or the list is always overdue");
}

/// Refuses a key prefix for a list with an empty name. Without a name at their end, the own keys of
/// this list would be those of the list that is named like the key prefix.
void check_owns_keys(const ConfigValue& list, const ListConfig& rule) {
  if (!rule.prefix.empty() || rule.bare_key_prefix().empty()) return;
  const std::string text = "has the key prefix " + quote_start(rule.bare_key_prefix()) +
                           ", and the list has an empty name; the list must have a name";
  wrong_at(list, "key_prefix", text);
}

/// Checks that a schedule sets its queues, and that `backoff` is set only if it is used.
void check_schedule(const ConfigValue& list, ListConfig& rule) {
  check_owns_keys(list, rule);
  if (rule.bare_key_prefix() == rule.prefix && !rule.key_suffix().empty())
    rule.schedule().key_prefix.reset();
  const ScheduleSettings& settings = std::as_const(rule).schedule();
  if (settings.queues.empty() && list.node().find("queues") == nullptr) {
    list.wrong_key(
        "has no queues, and source = \"schedule\" needs them; set queues, such as queues = \"A\": "
        "the codes after the last ':' of its jobs");
  }
  if (settings.on_failure == OnFailure::backoff) return;
  for (const char* key : {"backoff", "max_failures"}) {
    if (const Node* own = list.node().find(key))
      list.member(*own).wrong_key(
          "is for circular lists, and for schedules with on_failure = \"backoff\"; omit it, "
          "or set on_failure");
  }
}

void check_gearman(const ConfigValue& list, ListConfig& rule) {
  check_function(list, rule.prefix, rule.gearman().function);
}

/// In the order of SourceKind.
constexpr KindChecks kind_checks[] = {
    {warn_of_late_visits, nullptr},
    {check_schedule, nullptr},
    {nullptr, nullptr},
    {check_gearman, why_not_in_gearman},
};
static_assert(std::size(kind_checks) == source_kind_count);

}  // namespace

const KindChecks& checks_of(const KindTraits& kind) {
  return kind_checks[kind.index()];
}

void KeyPrefixes::add(const ConfigValue& list, const ListConfigPtr& rule) {
  std::vector<ListConfigPtr>& lists = lists_[rule->bare_key_prefix()];
  for (const ListConfigPtr& other : lists) check_pair(list, *rule, *other);
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
