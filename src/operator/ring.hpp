// A circular list as a circle: how each of its items is, in its order, in few bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rule.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// Items that are looked at; of a longer list a sample of as many.
inline constexpr std::size_t most_in_ring = 10'000;

/// How far a list has turned since it was first looked at: items that stay in their order, but
/// stand elsewhere, have been passed by.
class RingRotation {
 public:
  /// `hashes`: of all items, in their order.
  void note(std::vector<std::uint64_t> hashes);
  void forget() { before_.clear(); }
  [[nodiscard]] std::int64_t places() const { return places_; }

 private:
  std::vector<std::uint64_t> before_;
  std::int64_t places_ = 0;
};

/// JSON (w8y-api(7)), without its last brace. Throws Refusal for a list that is no circle.
std::string ring_text(QueryContext& query, const std::string& prefix, std::size_t most,
                      RingRotation& turn);

}  // namespace w8y::verbs
