// Views of items by kind of work: a row for each kind.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/source_settings.hpp"
#include "view/field.hpp"

namespace w8y {

struct WhyItem;
struct WhyList;
struct WhySentence;

}  // namespace w8y

namespace w8y::view {

/// How a kind of work is shown.
struct KindView {
  /// States of its items. Empty for Gearman, whose jobs gearmand holds.
  std::span<const std::string_view> states = {};
  Surface surface = feed_job;  ///< surface of its items
  const char* item = "job";    ///< noun for an item
  const char* list = "list";   ///< noun for a list
  const char* claimable = "";  ///< state of an item that can be claimed; "" = not known
  const char* kept = "";       ///< state of an item that runs again only if an operator releases it
  bool waits_in_queue = false;       ///< a claimable item has a position in a queue
  bool has_queues = false;           ///< its queues have codes
  bool counts_consecutively = true;  ///< a success resets the number of failures of an item
  bool always_has_length = false;    ///< JSON of all items has the length, too
  /// End of a sentence about an item that is held without a time limit.
  const char* no_expiry = "; the lock does not expire.";
  /// End of a sentence about an item that does not exist.
  const char* unknown_reason = ".";
  /// Explains why an item does not run; nullptr = its items are not known.
  std::vector<WhySentence> (*why)(const WhyList& list, const WhyItem& item) = nullptr;
};
const KindView& view_of(const KindTraits& kind);
const KindView& view_of(const WhyList& list);

}  // namespace w8y::view
