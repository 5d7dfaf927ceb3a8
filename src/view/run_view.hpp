// An active run as it is shown: on its host, to other hosts, on pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/status.hpp"
#include "view/field.hpp"

namespace w8y::view {

struct RunView {
  std::string list;
  RunStatus status;
  /// Time since its start. Also right on a host whose clock differs.
  std::optional<WallTime> age;
  std::string tail;  ///< what it wrote to standard error so far, if that was asked for

  std::string host;     ///< that runs it; not in JSON of its own host
  std::string host_id;  ///< the same
};

/// A run as GET /api/v1/status has it.
std::string to_json(const RunStatus& run);
/// With its list; and with its host, if that is known.
std::string to_json(const RunView& run);
/// nullopt: it has no ID.
std::optional<RunView> read_run(const JsonFields& json);

/// Reads "numerator" and "denominator"; nullopt: one of them is missing.
std::optional<Progress> read_progress(const JsonFields& json);
/// Reads "item" and, for a long item, "item_length"; nullopt: there is no "item".
std::optional<DisplayItem> read_item(const JsonFields& json);

/// Writes what read_item() reads.
void put_item(core::JsonObject& json, std::string_view name, const DisplayItem& item);

/// The first bytes of an item, which do not end within a character.
DisplayItem shortened(const DisplayItem& item, std::size_t most);

}  // namespace w8y::view
