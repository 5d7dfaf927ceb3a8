// A circular list as a circle: its items in their order, and how far it has turned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "operator/query_context.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

/// Items that are looked at; of a longer list a sample of as many.
inline constexpr std::size_t max_in_ring = 10'000;

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

/// What was read of the list: all of it, or pieces of a longer one, evenly over it.
struct Ring {
  struct Piece {
    std::size_t first = 0;  ///< index in the list
    std::size_t count = 0;
  };
  WallTime now{0};  ///< by Redis's clock
  std::size_t length = 0;
  std::vector<Piece> pieces;
  std::vector<view::ItemView> items;     ///< of the pieces, in their order
  std::optional<std::int64_t> rotation;  ///< RingRotation::slots(); nullopt: a sample

  [[nodiscard]] bool sampled() const { return !rotation; }
};

/// Reads at most `most` items. Throws Refusal for a list that is no circle.
Ring read_ring(QueryContext& query, const std::string& prefix, std::size_t most,
               RingRotation& turn);

}  // namespace w8y::verbs
