// A pass over a circular list, part by part, that misses no item.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace w8y::store {

/// Order in which the parts of a circular list are read while hosts rotate it.
/// Hosts move items from the start of the list to its end and keep their cyclic order. The parts
/// are read from the end to the start: until an item is read, it can only move towards the start,
/// or to the end. Items that moved are read last, from the end to the items that were at the end at
/// first. Each item that is in the list during the whole pass is read at least once, unless hosts
/// rotate the whole list during the pass. An item that another client moves towards the end, by
/// LPUSH or RPOPLPUSH, can be missed.
class ListPass {
 public:
  struct Part {
    std::int64_t first = 0;         ///< index; below 0: it counts from the end
    std::int64_t count = 0;         ///< items
    std::int64_t fingerprints = 0;  ///< number of fingerprints that the reply needs
    bool moved = false;             ///< read for items that hosts moved to the end
  };
  struct Reply {
    std::int64_t first = 0;  ///< index of the first item that was read
    std::int64_t read = 0;   ///< items; all, or those that were within the limit of bytes
    bool whole = false;      ///< all of the part was read
    /// Fingerprints of the items, from the last to the first, without items that the caller removes
    /// or searches for.
    std::vector<std::string> fingerprints;
  };

  /// Returns the part to read next; nullopt = the pass has ended.
  [[nodiscard]] std::optional<Part> next() const;
  /// Processes the reply for this part.
  void take(const Reply& reply);

 private:
  void grow(std::int64_t most);
  [[nodiscard]] bool finds_mark(const std::vector<std::string>& fingerprints) const;

  std::int64_t count_ = longest_part;
  std::int64_t end_ = 0;      ///< index behind the next part; 0: the end of the list
  bool reads_moved_ = false;  ///< the start was reached
  bool is_over_ = false;
  std::int64_t whole_parts_ = 0;   ///< parts in a row that were within the limit of bytes
  std::vector<std::string> mark_;  ///< fingerprints of the items at the end when the pass started

  static constexpr std::int64_t longest_part = 10'000;
  static constexpr std::int64_t parts_before_growth = 8;
  static constexpr std::int64_t moved_part = 1000;
  static constexpr std::int64_t mark_length = 4;
};

/// Maximum bytes of items that one call reads. Redis needs 10 ms to hash them.
inline constexpr const char* list_part_bytes = "4194304";

}  // namespace w8y::store
