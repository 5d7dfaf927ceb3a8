// JSON of an active run: on its host, for other hosts, and on pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/outcome.hpp"
#include "core/status.hpp"
#include "view/field.hpp"

namespace w8y::view {

struct RunView {
  std::string list;
  RunStatus status;
  /// Time since its start. Correct even if the clock of its host is wrong.
  std::optional<WallTime> age;
  std::string tail;  ///< log output so far, if requested

  std::string host;     ///< host of the run; not in JSON of its own host
  std::string host_id;  ///< ID of that host

  ResourceUse used = {};  ///< by its process so far, if requested
};

/// Returns a run as in GET /api/v1/status.
std::string to_json(const RunStatus& run);
/// Returns a run with its list, and with its host if it is known.
std::string to_json(const RunView& run);
/// nullopt: it has no ID.
std::optional<RunView> read_run(const JsonFields& json);

/// Reads "numerator" and "denominator"; nullopt: one of them is missing.
std::optional<Progress> read_progress(const JsonFields& json);
/// Reads "item" and, for a long item, "item_length"; nullopt: there is no "item".
std::optional<DisplayItem> read_item(const JsonFields& json);

/// Writes the input of read_item().
void put_item(core::JsonObject& json, std::string_view name, const DisplayItem& item);

/// Returns the first bytes of an item, without a part of a character.
DisplayItem shortened(const DisplayItem& item, std::size_t most);

}  // namespace w8y::view
