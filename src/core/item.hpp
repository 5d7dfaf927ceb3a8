// What is claimed from a source: an item, the run that will handle it, the proof that it is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/run_id.hpp"

namespace w8y {

/// One element of a list: bytes, usually an identifier; NUL, newlines and invalid UTF-8 included.
using Item = std::string;

/// Longer ones are refused where they are added, and quarantined where they are found in a list.
/// An item travels as a whole, in one command or one answer, and again in the name of its lock,
/// with each renewal: of this length it keeps Redis and a connection busy for some tens of
/// milliseconds, and two of them in one command are far from what a connection carries.
inline constexpr std::size_t max_item = std::size_t{16} << 20;
/// "longer than 16 MiB, the most that an item may have"
[[nodiscard]] std::string too_long_text();
/// History, events, log and API have as many bytes of an item, and its length beside them.
inline constexpr std::size_t item_shown = std::size_t{4} << 10;
/// What is shown of an item: all of it, or its first bytes, which don't end within a character.
[[nodiscard]] std::string_view shown_part(std::string_view item) noexcept;

/// An item as it is shown: told to people and programs, and no longer the item itself.
struct DisplayItem {
  DisplayItem() = default;
  DisplayItem(const Item& item) : beginning(shown_part(item)), length(item.size()) {}
  DisplayItem(const char* item) : DisplayItem(Item(item)) {}
  /// Of one that was never read whole.
  DisplayItem(std::string_view read, std::size_t of) : beginning(shown_part(read)), length(of) {}
  [[nodiscard]] bool is_truncated() const { return length > beginning.size(); }

  std::string beginning;
  std::size_t length = 0;
};

/// The same without a copy: as long as the item is there.
struct ItemRef {
  ItemRef() = default;
  ItemRef(const Item& item) : beginning(shown_part(item)), length(item.size()) {}
  ItemRef(const DisplayItem& item) : beginning(item.beginning), length(item.length) {}
  ItemRef(const char* item) : beginning(item), length(beginning.size()) {}
  [[nodiscard]] bool cut() const { return length > beginning.size(); }
  [[nodiscard]] DisplayItem copy() const { return {beginning, length}; }

  std::string_view beginning;
  std::size_t length = 0;
};

/// What an executor is called with, where that is not as usual.
struct Call {
  std::optional<std::string> name;   ///< else: the list's prefix
  std::optional<std::string> id;     ///< else: the run id
  std::optional<std::string> input;  ///< else: the item
};

/// An item that this host holds. Whoever has the claim settles it or hands it back, exactly once.
struct Claim {
  RunId run;
  Item item;
  Call call;
  /// Grows with every claim of the list, where the kind of work has one.
  std::optional<std::uint64_t> fence;
  unsigned attempt = 1;  ///< failures in a row + 1
};

}  // namespace w8y
