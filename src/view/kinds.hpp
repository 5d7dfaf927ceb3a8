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

/// Nouns, states and sentences that show a kind of work.
struct KindView {
  /// States of its items. Empty for Gearman, whose jobs gearmand holds.
  std::span<const std::string_view> states = {};
  Surface surface = feed_job;  ///< output on which the fields of its items show
  const char* item = "job";    ///< noun for an item
  const char* list = "list";   ///< noun for a list
  const char* claimable = "";  ///< state of an item that can be claimed; "" = not known
  const char* kept = "";       ///< state of an item that runs again only if an operator releases it
  bool waits_in_queue = false;       ///< a claimable item has a position in a queue
  bool has_queues = false;           ///< its queues have codes
  bool counts_consecutively = true;  ///< a success resets the number of failures of an item
  bool always_has_length = false;    ///< JSON has the length even if it has all items
  /// End of a sentence about an item that is held without a time limit.
  const char* no_expiry = "; the lock does not expire.";
  /// End of a sentence about an item that does not exist.
  const char* unknown_reason = ".";
  /// Explains the state of an item; nullptr = Redis does not have the items of this kind.
  std::vector<WhySentence> (*why)(const WhyList& list, const WhyItem& item) = nullptr;
};
const KindView& view_of(const KindTraits& kind);
const KindView& view_of(const WhyList& list);

}  // namespace w8y::view
