// Record of operators' changes of items, jobs and schedules in `P:changes` (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "operator/key_names.hpp"
#include "store/request_record.hpp"
#include "view/item_change.hpp"

namespace w8y::verbs {

/// Maximum number of changes that are returned for one item.
inline constexpr std::size_t max_changes_of_item = 50;

/// Records that an operator has changed these items. Called after the change, which stands: errors
/// of Redis, such as a missing permission, are ignored. Without an operator, records nothing. The
/// time of the change is that of Redis.
/// `key_prefix`: start of the names of the list's keys, "work:".
void record_changes(redis::SyncClient& client, const std::string& key_prefix,
                    const view::ItemChange& change, const std::vector<DisplayItem>& items);
/// The same for items of a list, by the operator of the query.
void record_changes(QueryContext& query, const std::string& list, const char* change,
                    const std::vector<Item>& items);
/// Records the items or jobs that a request has added, and the jobs that it runs again. Records
/// nothing for a repeated request.
void record_added(redis::SyncClient& client, const std::string& key_prefix, const std::string& by,
                  const std::vector<Item>& items, const store::RecordedReply& reply);
/// Returns the newest changes of an item, at most `most`; none if Redis refuses to read them.
std::vector<view::ItemChange> read_changes(redis::SyncClient& client, const KeyNames& list,
                                           const DisplayItem& item,
                                           std::size_t most = max_changes_of_item);

}  // namespace w8y::verbs
