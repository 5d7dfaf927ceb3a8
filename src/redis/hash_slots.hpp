// Hash slots of Redis Cluster: the hash slot of a key, and the primary of a hash slot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/command.hpp"
#include "redis/reply_copy.hpp"
#include "redis/url.hpp"

namespace w8y::redis {

using Slot = std::uint16_t;
inline constexpr std::size_t slot_count = 16384;

/// Hash slot of a key: by the text in the first pair of braces if it is not empty, else by the
/// whole key.
Slot slot_of(std::string_view key);
/// Whether all keys that start with `prefix` are in the same hash slot.
bool has_hash_tag(std::string_view prefix);

/// Text that determines the node of a command: its first key, or a channel, so that messages keep
/// their order. nullopt if any node may execute it.
std::optional<std::string_view> key_of(const Command& command);

class SlotMap {
 public:
  /// Primary of the hash slot; nullptr if none is known.
  [[nodiscard]] const HostPort* primary(Slot slot) const;
  void set(Slot slot, const HostPort& primary);
  /// All nodes of the cluster, replicas included.
  [[nodiscard]] const std::vector<HostPort>& nodes() const { return nodes_; }
  /// A hash slot that has a primary; nullopt if none has.
  [[nodiscard]] std::optional<Slot> any_served() const;

 private:
  friend std::string read_slots(const HostPort& asked, const ReplyCopy& reply, SlotMap& map);

  static constexpr std::uint16_t nobody = UINT16_MAX;
  std::uint16_t number_of(const HostPort& place);

  std::vector<HostPort> nodes_;
  std::vector<std::uint16_t> primaries_;  ///< index in nodes_ for each hash slot; may be empty
};

/// Reads the reply to CLUSTER SLOTS. A node may omit its own host, which is `asked` then. Returns
/// the problem, or empty.
std::string read_slots(const HostPort& asked, const ReplyCopy& reply, SlotMap& map);

/// Queries to a node about its cluster, and the check of the replies, which returns the problem or
/// empty. A node that is cut off from the cluster (cluster_state:fail) has an old map and is not
/// used.
std::vector<std::vector<std::string>> cluster_questions();
std::string read_cluster(const HostPort& asked, const std::vector<ReplyCopy>& answers,
                         SlotMap& map);

/// Target of "MOVED <slot> <host>:<port>" or ASK. `sender` replaces an empty host.
std::optional<HostPort> redirected_to(std::string_view error, const HostPort& sender);

}  // namespace w8y::redis
