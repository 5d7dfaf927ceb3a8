// Settlements of circular lists.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "store/settlements.hpp"

namespace w8y::store {

struct CircularEnds {
  using Keys = CircularKeys;
  using Call = SettleCall;
  using Answer = std::function<void(std::size_t call, const StoreError* trouble)>;
  /// Maximum number of settlements in one call, so that Redis is not blocked for long.
  static constexpr std::size_t most_settled = 32;

  static std::size_t bytes_of(const Call& call) {
    return call.lock.size() + call.value.size() + call.new_value.size();
  }
  /// A quarantine makes Redis search the whole list for the item (settle.lua), so it is sent alone.
  static bool goes_alone(const Call& call) { return call.for_good(); }
  static const std::string& list_of(const Keys& keys) { return keys.list; }
  static void send(RedisSession& session, const Keys& keys, const std::vector<const Call*>& calls,
                   Answer answer);
};
using CircularSettlements = Settlements<CircularEnds>;
extern template class Settlements<CircularEnds>;

}  // namespace w8y::store
