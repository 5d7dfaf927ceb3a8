#include "operator/item_changes.hpp"

#include <algorithm>

#include "store/scripts.hpp"

namespace w8y::verbs {

namespace {

/// Maximum number of records in the key.
constexpr std::size_t max_records = 1000;
/// Maximum number of records, and of their bytes, in one call.
constexpr std::size_t records_at_once = 256;
constexpr std::size_t record_bytes_at_once = std::size_t{1} << 20;
/// Milliseconds from the last change to the end of the key.
constexpr const char* life_of_records = "604800000";

std::string changes_key(const std::string& key_prefix) {
  return key_prefix + "changes";
}

}  // namespace

void record_changes(redis::SyncClient& client, const std::string& key_prefix,
                    const view::ItemChange& change, const std::vector<DisplayItem>& items) {
  if (change.by.empty()) return;
  const std::string key = changes_key(key_prefix);
  const std::string most = std::to_string(max_records);
  // The key has no room for more.
  std::size_t next = items.size() - std::min(items.size(), max_records);
  try {
    while (next < items.size()) {
      std::vector<std::string> records;
      for (std::size_t bytes = 0;
           next < items.size() && records.size() < records_at_once && bytes < record_bytes_at_once;
           ++next)
        bytes += records.emplace_back(view::change_record(change, items[next])).size();
      redis::Command args{most, life_of_records};
      args.insert(args.end(), records.begin(), records.end());
      client.run(store::scripts::record_changes, {key}, args);
    }
  } catch (const redis::RedisError&) {
    // The change has been made.
  }
}

void record_changes(QueryContext& query, const std::string& list, const char* change,
                    const std::vector<Item>& items) {
  if (query.by.empty()) return;
  record_changes(query.redis, key_names(query, list).start(), {change, query.by, {}, {}},
                 {items.begin(), items.end()});
}

void record_added(redis::SyncClient& client, const std::string& key_prefix, const std::string& by,
                  const std::vector<Item>& items, const store::RecordedReply& reply) {
  if (reply.state != store::RecordedReply::State::written) return;
  std::vector<DisplayItem> added, rerun;
  for (std::size_t i = 0; i < std::min(items.size(), reply.results.size()); ++i) {
    if (reply.results[i] == '1') added.emplace_back(items[i]);
    if (reply.results[i] == '2' || reply.results[i] == '3') rerun.emplace_back(items[i]);
  }
  record_changes(client, key_prefix, {"added", by, {}, {}}, added);
  record_changes(client, key_prefix, {"rerun", by, {}, {}}, rerun);
}

std::vector<view::ItemChange> read_changes(redis::SyncClient& client, const KeyNames& list,
                                           const DisplayItem& item, std::size_t most) {
  const std::string key = changes_key(list.start());
  const std::string text = view::text_in_records(item);
  const std::string limit = std::to_string(most);
  std::vector<view::ItemChange> changes;
  try {
    for (const redis::ReplyCopy& record :
         client.run(store::scripts::find_changes, {key}, {text, limit}).elements)
      if (auto change = view::read_change(record.text, item)) changes.push_back(std::move(*change));
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
  }
  return changes;
}

}  // namespace w8y::verbs
