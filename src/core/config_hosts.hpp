// [hosts."PATTERN"]: what differs on some hosts of a fleet that shares one file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_keys.hpp"

namespace w8y::core {

/// What may differ: one row of `list_keys` each.
extern const std::span<const std::string_view> host_list_keys;
/// And besides lists.
extern const std::span<const std::string_view> host_keys;

/// The sections of one file. Each is checked on every host, and counts where the host's name fits
/// its pattern; what stands further down in the file wins.
class HostSections {
 public:
  /// `file` is [hosts] of the main file; its nodes outlive this.
  void read(const ConfigValue& section);
  /// What counts on this host beside its lists.
  void apply(const std::string& host, Config& config);
  /// What is said of one list. `config` is as the file has it for all hosts, and becomes what it is
  /// on this one; true: something counts here.
  bool override(ReadContext& reading, const std::string& host, ListConfig& rule, Config& config);
  /// Once all lists were overridden: reports those that are not there.
  void report_unknown(ReadContext& reading) const;

 private:
  /// The way to what one section says of a list: values refer to those that hold them, so they are
  /// made anew from the nodes.
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
