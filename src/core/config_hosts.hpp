// [hosts."PATTERN"]: settings that differ on some hosts of a fleet that shares one config file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_keys.hpp"

namespace w8y::core {

/// Keys of a list that may differ between hosts. Each has a row in `list_keys`.
extern const std::span<const std::string_view> host_list_keys;
/// Keys other than those of lists that may differ.
extern const std::span<const std::string_view> host_keys;

/// The [hosts] sections of one file. Every host checks all sections, and applies those whose
/// pattern matches its name. Later sections in the file take precedence.
class HostSections {
 public:
  /// Reads [hosts] of the main file. `section` and its nodes must outlive this object.
  void read(const ConfigValue& section);
  /// Applies the settings for this host that do not belong to a list.
  void apply(const std::string& host, Config& config);
  /// Applies the settings of one list. `config` has the values of the file for all hosts, and gets
  /// the values for this host. Returns true if a section applies to this host.
  bool override(ReadContext& reading, const std::string& host, ListConfig& rule, Config& config);
  /// Reports lists that are in [hosts] but not in the config. Called after override() of all lists.
  void report_unknown(ReadContext& reading) const;

 private:
  /// The nodes that lead to the settings of one list in one section. Each ConfigValue refers to its
  /// parent, so the values are made from the nodes for each use.
  struct Part {
    const Node* pattern;
    const Node* lists;
    const Node* list;
  };
  struct Parts {
    std::vector<Part> parts;
    bool used = false;
  };
  template <class Tell>
  void at(ReadContext& reading, const Part& part, Tell&& tell) const;
  void read_member(const ConfigValue& member, const Node& pattern);
  void read_lists(const ConfigValue& lists, const Node& pattern);

  std::string file_;
  const Node* section_ = nullptr;
  struct HostConcurrency {
    std::string pattern;
    Place place;
    unsigned value;
  };
  std::vector<HostConcurrency> host_concurrency_;
  std::map<std::string, Parts> lists_;  ///< by prefix
};

}  // namespace w8y::core
