// Keys and channels of a fleet (w8y-keys(7)).
#pragma once

#include <string>
#include <string_view>

namespace w8y::store {

/// Each command names one of them: in a cluster they may be on different nodes.
struct FleetKeys {
  explicit FleetKeys(const std::string& fleet)
      : hosts(fleet + ":hosts"),
        host_prefix(fleet + ":host:"),
        lists_prefix(fleet + ":lists:"),
        control(fleet + ":control"),
        answer_prefix(fleet + ":answer:") {}

  [[nodiscard]] std::string host(std::string_view id) const {
    return host_prefix + std::string(id);
  }
  [[nodiscard]] std::string lists(std::string_view id) const {
    return lists_prefix + std::string(id);
  }
  [[nodiscard]] std::string answer(std::string_view order) const {
    return answer_prefix + std::string(order);
  }

  std::string hosts;  ///< zset: host id, scored with its last beat in ms
  std::string host_prefix;
  std::string lists_prefix;
  std::string control;
  std::string answer_prefix;
};

}  // namespace w8y::store
