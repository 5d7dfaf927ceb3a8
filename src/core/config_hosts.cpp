#include "core/config_hosts.hpp"

#include <algorithm>
#include <tuple>

#include "core/pattern.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

constexpr std::string_view keys_of_host_lists[] = {"concurrency", "weight",  "enabled",
                                                   "processes",   "env",     "nice",
                                                   "rlimits",     "timeout", "progress_timeout"};
constexpr std::string_view keys_of_hosts[] = {"host_concurrency", "lists"};

bool comes_before(const Place& a, const Place& b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

std::string names_text(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += name == names.back() ? " and " : ", ";
    text += name;
  }
  return text;
}

const Key<ListConfig>* row_that_may_differ(const ConfigValue& value) {
  const std::string& name = value.node().key;
  const auto row =
      std::ranges::find_if(list_keys, [&](const auto& key) { return key.name == name; });
  if (row == list_keys.end()) {
    unknown_key(value, {host_list_keys.begin(), host_list_keys.end()}, list_refused);
    return nullptr;
  }
  if (std::ranges::find(host_list_keys, std::string_view(name)) == host_list_keys.end()) {
    value.wrong_key("is the same on all hosts; only " + names_text(host_list_keys) + " may differ");
    return nullptr;
  }
  return &*row;
}

void read_differing(const ConfigValue& list, bool counts, const std::string& pattern,
                    ListConfig& rule, std::vector<std::uint64_t>& hashes) {
  if (!list.is_table()) return;
  const unsigned forms = forms_of(rule, rule.is_command());
  for (const Node& node : list.node().items) {
    const ConfigValue value = list.member(node);
    const Key<ListConfig>* row = row_that_may_differ(value);
    if (row == nullptr) continue;
    if (row->only_for && (row->only_for->forms & forms) == 0) {
      value.wrong_key(rule.is_command() ? row->only_for->why_not_command
                                        : row->only_for->why_not_executor);
      continue;
    }
    ListConfig said = rule;
    const std::size_t before = value.reading().errors.size();
    row->read(value, said);
    hashes.push_back(hash_override(pattern, node.key, said));
    // Report each error once.
    if (counts && value.reading().errors.size() == before) row->read(value, rule);
  }
}

}  // namespace

const std::span<const std::string_view> host_list_keys = keys_of_host_lists;
const std::span<const std::string_view> host_keys = keys_of_hosts;

void HostSections::read(const ConfigValue& section) {
  if (!section.is_table()) return;
  file_ = section.file();
  section_ = &section.node();
  for (const Node& node : section.node().items) {
    const ConfigValue pattern = section.member(node);
    if (!pattern.is_table()) continue;
    for (const Node& member : node.items) read_member(pattern.member(member), node);
  }
  std::ranges::sort(host_concurrency_, comes_before, &HostConcurrency::place);
  for (auto& [prefix, parts] : lists_)
    std::ranges::sort(parts.parts, comes_before,
                      [](const Part& part) { return part.list->key_place; });
}

void HostSections::read_member(const ConfigValue& member, const Node& pattern) {
  if (member.node().key == "lists") return read_lists(member, pattern);
  const auto row = std::ranges::find_if(supervisor_keys, [](const auto& key) {
    return std::string_view(key.name) == "host_concurrency";
  });
  if (member.node().key != row->name) {
    return unknown_key(member, {host_keys.begin(), host_keys.end()}, {});
  }
  SupervisorSettings said;
  row->read(member, said);
  host_concurrency_.push_back({pattern.key, member.node().key_place, said.host_concurrency});
}

void HostSections::read_lists(const ConfigValue& lists, const Node& pattern) {
  if (!lists.is_table()) return;
  for (const Node& node : lists.node().items) {
    std::string prefix = node.key;
    if (prefix.ends_with(':')) prefix.pop_back();
    lists_[prefix].parts.push_back({&pattern, &lists.node(), &node});
  }
}

void HostSections::apply(const std::string& host, Config& config) {
  for (const HostConcurrency& each : host_concurrency_) {
    config.host_hashes.push_back(hash_override(each.pattern, each.value));
    if (!fits(each.pattern, host)) continue;
    if (!config.written_host_concurrency)
      config.written_host_concurrency = config.supervisor.host_concurrency;
    config.supervisor.host_concurrency = each.value;
  }
}

template <class Tell>
void HostSections::at(ReadContext& reading, const Part& part, Tell&& tell) const {
  Node top;
  const ConfigValue file(reading, file_, top);
  const ConfigValue section = file.member(*section_);
  const ConfigValue pattern = section.member(*part.pattern);
  const ConfigValue lists = pattern.member(*part.lists);
  tell(lists.member(*part.list));
}

bool HostSections::override(ReadContext& reading, const std::string& host, ListConfig& rule,
                            Config& config) {
  const auto found = lists_.find(rule.prefix);
  if (found == lists_.end()) return false;
  found->second.used = true;
  bool any = false;
  for (const Part& part : found->second.parts) {
    const bool counts = fits(part.pattern->key, host);
    any = any || counts;
    at(reading, part, [&](const ConfigValue& list) {
      read_differing(list, counts, part.pattern->key, rule, config.host_hashes);
    });
  }
  return any;
}

void HostSections::report_unknown(ReadContext& reading) const {
  for (const auto& [prefix, parts] : lists_) {
    if (parts.used) continue;
    for (const Part& part : parts.parts)
      at(reading, part, [](const ConfigValue& list) {
        list.wrong_key("is not a list of this config; must be the name of a list in [lists]");
      });
  }
}

}  // namespace w8y::core
