#include "store/circular/item_changes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "store/lock_value.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Items per call: finding one takes time with the length of the list, and Redis must not be held
/// for long.
constexpr std::size_t at_once = 64;
/// And bytes of them: each comes up to three times, with its locks.
constexpr std::size_t bytes_at_once = std::size_t{1} << 20;
/// Of the list, or of the index, per call. Others rotate the list meanwhile.
constexpr std::int64_t page = 1000;
constexpr const char* most_of_note = "4096";
/// Of a list with long items, per call.
constexpr const char* long_items_at_once = "10000";
constexpr const char* long_bytes_at_once = "33554432";

}  // namespace

template <typename Result>
std::vector<Result> ItemChanges::run(const redis::Script& script, const redis::Command& keys,
                                     Locks locks, const redis::Command& args,
                                     const std::vector<Item>& items) {
  std::vector<Result> results;
  std::size_t end = 0;
  for (std::size_t first = 0; first < items.size(); first = end) {
    std::size_t bytes = 0;
    while (end < items.size() && end - first < at_once && bytes < bytes_at_once)
      bytes += items[end++].size();
    std::vector<std::string> names;
    for (std::size_t i = first; i < end; ++i) {
      names.push_back(keys_.lock(items[i]));
      if (locks == Locks::both) names.push_back(keys_.other_lock_prefix + items[i]);
    }
    redis::Command all_keys(keys);
    all_keys.insert(all_keys.end(), names.begin(), names.end());
    redis::Command all_args(args);
    for (std::size_t i = first; i < end; ++i) all_args.emplace_back(items[i]);
    const redis::ReplyCopy reply = client_.run(script, all_keys, all_args);
    for (std::size_t i = 0; i < end - first; ++i)
      results.push_back(
          static_cast<Result>(i < reply.elements.size() ? reply.elements[i].number : 0));
  }
  return results;
}

std::vector<AddedAs> ItemChanges::add(const std::vector<Item>& items, bool again) {
  return run<AddedAs>(scripts::add, {keys_.list, keys_.failures, keys_.quarantined}, Locks::both,
                      {again ? "1" : "0", keys_.wake}, items);
}

std::vector<std::size_t> ItemChanges::remove(const std::vector<Item>& items) {
  return run<std::size_t>(scripts::remove, {keys_.list, keys_.failures, keys_.quarantined},
                          Locks::both, {""}, items);
}

std::vector<std::optional<std::size_t>> ItemChanges::remove(const std::vector<Item>& items,
                                                            const std::string& state) {
  std::vector<std::optional<std::size_t>> copies;
  for (const std::int64_t count :
       run<std::int64_t>(scripts::remove, {keys_.list, keys_.failures, keys_.quarantined},
                         Locks::both, {state}, items))
    copies.push_back(count < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(count)));
  return copies;
}

std::vector<QuarantinedAs> ItemChanges::quarantine(const std::vector<Item>& items,
                                                   const QuarantineNote& note) {
  const std::string text = to_text(note);
  return run<QuarantinedAs>(scripts::quarantine, {keys_.list, keys_.quarantined}, Locks::one,
                            {text}, items);
}

std::vector<ReleasedAs> ItemChanges::release(const std::vector<Item>& items) {
  return run<ReleasedAs>(scripts::release, {keys_.list, keys_.failures, keys_.quarantined},
                         Locks::both, {keys_.wake}, items);
}

std::vector<ShownItem> ItemChanges::change_long(const char* what, const std::string& which,
                                                const std::string& note) {
  std::vector<ShownItem> changed;
  const std::string shown = std::to_string(item_shown);
  std::int64_t first = 0;
  while (true) {
    const std::string from = std::to_string(first);
    const redis::ReplyCopy reply =
        client_.run(scripts::long_items, {keys_.list, keys_.failures, keys_.quarantined},
                    {keys_.lock_prefix, keys_.other_lock_prefix, what, which, shown, from,
                     long_items_at_once, long_bytes_at_once, keys_.wake, note});
    if (reply.elements.size() < 2) return changed;
    first += reply.elements[0].number;
    for (std::size_t i = 2; i + 1 < reply.elements.size(); i += 2)
      changed.emplace_back(reply.elements[i].text,
                           static_cast<std::size_t>(reply.elements[i + 1].number));
    if (reply.elements[1].number == 1) return changed;
  }
}

std::vector<ShownItem> ItemChanges::change_long(LongChange what,
                                                const std::vector<std::string>& states) {
  std::string which = " ";
  for (const std::string& state : states) which += state + " ";
  return change_long(what == LongChange::remove ? "remove" : "release", which, {});
}

std::vector<ShownItem> ItemChanges::quarantine_long(const RunId& run, const QuarantineNote& note) {
  return change_long("quarantine", run.str(), to_text(note));
}

std::vector<ItemChanges::Quarantined> ItemChanges::quarantined() {
  std::vector<Quarantined> all;
  std::set<Item> seen;  // HSCAN may tell of one twice
  std::string cursor = "0";
  const std::string entries = std::to_string(page);
  const std::string shown = std::to_string(item_shown);
  do {
    const redis::ReplyCopy reply =
        client_.run(scripts::index, {keys_.quarantined}, {cursor, entries, shown, most_of_note});
    if (reply.elements.empty()) break;
    cursor = reply.elements[0].text;
    const auto& fields = reply.elements;
    for (std::size_t i = 1; i + 1 < fields.size(); i += 2)
      if (seen.insert(fields[i].text).second)
        all.push_back({fields[i].text, read_note(fields[i + 1].text)});
  } while (cursor != "0");
  return all;
}

}  // namespace w8y::store
