// What is claimed from a source: an item, the run that will handle it, the proof that it is ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <w8y/clock.hpp>

namespace w8y {

/// One element of a list: bytes, usually an identifier; NUL, newlines and invalid UTF-8 included.
using Item = std::string;

/// Names one execution in the whole fleet: a ULID, 26 characters, later ones sort after earlier.
using RunId = std::string;

/// An item that this host holds. Whoever has the claim settles it or hands it back, exactly once.
struct Claim {
  RunId run;
  Item item;
  std::optional<std::string> payload;  ///< jobs only: what the executor reads instead of the item
  std::uint64_t fence = 0;             ///< grows with every claim of the list (keys.md)
  unsigned attempt = 1;                ///< failures in a row + 1
};

}  // namespace w8y
