// Slots of Redis Cluster: which one a key is in, and who serves it.
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

/// By what stands in the first pair of braces, if anything does, else by the whole key.
Slot slot_of(std::string_view key);
/// All keys that begin with it are in the same slot.
bool has_hash_tag(std::string_view prefix);

/// What decides where a command belongs: its first key, or a channel, so that its messages keep
/// their order. nullopt: it may go anywhere.
std::optional<std::string_view> key_of(const Command& command);

class SlotMap {
 public:
  /// Who serves it; nullptr: nobody, as far as is known.
  [[nodiscard]] const HostPort* primary(Slot slot) const;
  void set(Slot slot, const HostPort& primary);
  /// Everybody in the cluster, replicas too.
  [[nodiscard]] const std::vector<HostPort>& nodes() const { return nodes_; }
  /// A slot that is served; nullopt: none is.
  [[nodiscard]] std::optional<Slot> any_served() const;

 private:
  friend std::string read_slots(const HostPort& asked, const ReplyCopy& reply, SlotMap& map);

  static constexpr std::uint16_t nobody = UINT16_MAX;
  std::uint16_t number_of(const HostPort& place);

  std::vector<HostPort> nodes_;
  std::vector<std::uint16_t> primaries_;  ///< of each slot, in nodes_; empty: of none
};

/// From the reply to CLUSTER SLOTS, in which a node may leave out its own host: then it is the one
/// that was asked. What is wrong with it, or empty.
std::string read_slots(const HostPort& asked, const ReplyCopy& reply, SlotMap& map);

/// What a node is asked about its cluster, and what it says: what is wrong with it, or empty. A
/// node that the cluster has left behind (cluster_state:fail) knows an old map, and is no good.
std::vector<std::vector<std::string>> cluster_questions();
std::string read_cluster(const HostPort& asked, const std::vector<ReplyCopy>& answers,
                         SlotMap& map);

/// "MOVED <slot> <host>:<port>" and ASK: where to. `said_by`: stands for an empty host.
std::optional<HostPort> redirected_to(std::string_view error, const HostPort& said_by);

}  // namespace w8y::redis
