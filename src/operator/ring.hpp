// Circular list for the ring of the page: its items in order, and its rotation.
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

/// Items that are read; of a longer list, a sample of this size.
inline constexpr std::size_t max_in_ring = 10'000;

/// Rotation of a list since the first read. Items that kept their order but have another index were
/// rotated.
class RingRotation {
 public:
  /// Compares the list with the last read. `hashes`: of all items, in order.
  void record(std::vector<std::uint64_t> hashes);
  void forget() { before_.clear(); }
  [[nodiscard]] std::int64_t places() const { return places_; }

 private:
  std::vector<std::uint64_t> before_;
  std::int64_t places_ = 0;
};

/// Contents of a list: all items, or pieces spread evenly over a longer list.
struct Ring {
  struct Piece {
    std::size_t first = 0;  ///< index in the list
    std::size_t count = 0;
  };
  WallTime now{0};  ///< by Redis's clock
  std::size_t length = 0;
  std::vector<Piece> pieces;
  std::vector<view::ItemView> items;     ///< of the pieces, in order
  std::optional<std::int64_t> rotation;  ///< RingRotation::places(); nullopt: a sample

  [[nodiscard]] bool sampled() const { return !rotation; }
};

/// Reads at most `most` items. Throws QueryError if the list is not circular.
Ring read_ring(QueryContext& query, const std::string& prefix, std::size_t most,
               RingRotation& turn);

}  // namespace w8y::verbs
