// A claimed item, its run and its fencing token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/run_id.hpp"

namespace w8y {

/// One element of a list: bytes, usually an identifier. May contain NUL, newlines and invalid
/// UTF-8.
using Item = std::string;

/// Maximum length of an item in bytes. A longer item is refused when it is added, and quarantined
/// when it is found in a list. An item is sent as a whole, in one command or reply, and again in
/// the name of its lock for each renewal. An item of this length keeps Redis and a connection busy
/// for some tens of milliseconds. Two such items in one command are far below the limits of a
/// connection.
inline constexpr std::size_t max_item = std::size_t{16} << 20;
/// Returns "longer than 16 MiB, the maximum for an item".
[[nodiscard]] std::string too_long_text();
/// Maximum number of bytes of an item in the history, events, log and API. The length of the item
/// is stored beside them.
inline constexpr std::size_t item_shown = std::size_t{4} << 10;
/// Returns the part of an item that is shown: the item, or its first bytes up to the end of a
/// character.
[[nodiscard]] std::string_view shown_part(std::string_view item) noexcept;

/// An item for display. May be truncated, so it does not identify the item.
struct DisplayItem {
  DisplayItem() = default;
  DisplayItem(const Item& item) : beginning(shown_part(item)), length(item.size()) {}
  DisplayItem(const char* item) : DisplayItem(Item(item)) {}
  /// Constructs it from an item that was not read completely.
  DisplayItem(std::string_view read, std::size_t of) : beginning(shown_part(read)), length(of) {}
  [[nodiscard]] bool is_truncated() const { return length > beginning.size(); }

  std::string beginning;
  std::size_t length = 0;
};

/// The same without a copy. Valid as long as the item exists.
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

/// Values for the executor that differ from the defaults.
struct Call {
  std::optional<std::string> name;   ///< default: the prefix of the list
  std::optional<std::string> id;     ///< default: the run ID
  std::optional<std::string> input;  ///< default: the item
};

/// An item that this host holds. The owner of the claim must settle it or hand it back, exactly
/// once.
struct Claim {
  RunId run;
  Item item;
  Call call;
  /// Fencing token: grows with every claim of the list. Only for kinds of work that have one.
  std::optional<std::uint64_t> fence;
  unsigned attempt = 1;  ///< consecutive failures + 1
};

}  // namespace w8y
