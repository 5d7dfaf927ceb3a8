// Settlements of circular lists.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "store/settlements.hpp"

namespace w8y::store {

struct CircularEnds {
  using Keys = CircularKeys;
  using Call = SettleCall;
  using Words = SettlementWords<CircularEnds>;
  /// Maximum number of settlements in one call, so that Redis is not blocked for long.
  static constexpr std::size_t most_settled = 32;
  static constexpr std::size_t max_texts = 2;
  static const redis::Script& script();

  static std::size_t bytes_of(const Call& call) {
    return call.lock.size() + call.value.size() + call.new_value.size();
  }
  /// A quarantine makes Redis search the whole list for the item (settle.lua), so it is sent alone.
  static bool goes_alone(const Call& call) { return call.for_good(); }
  static const std::string& list_of(const Keys& keys) { return keys.list; }
  static SettleResult read(RedisSession& session, const redis::Answer& answer, const Call& call);

  static redis::Command keys_of(const Keys& keys, const std::vector<const Call*>& calls);
  static redis::Command first_words(const Keys& keys);
  static bool same_group(const Call& a, const Call& b);
  static std::array<std::string_view, 11> group_words(const Call& call, const KeepText& keep);
  static std::array<std::string_view, 4> own_words(const Call& call, std::string_view group);
};
using CircularSettlements = Settlements<CircularEnds>;
/// Settles without a retry.
void settle_once(RedisSession& session, const CircularKeys& keys, const SettleCall& call);
extern template class Settlements<CircularEnds>;

}  // namespace w8y::store
