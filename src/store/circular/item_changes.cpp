#include "store/circular/item_changes.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "store/circular/list_pass.hpp"
#include "store/lock_value.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Maximum number of items per call.
constexpr std::size_t at_once = 64;
/// Maximum number of their bytes per call. Each item occurs up to three times, with its locks.
constexpr std::size_t bytes_at_once = std::size_t{1} << 20;
/// Maximum number of items that one pass over the list searches for.
constexpr std::size_t names_of_pass = 1000;
/// Maximum length of a list that Redis searches for each item, as in parts/listed.lua.
constexpr std::int64_t short_list = 3000;
/// Maximum number of entries of the index per call.
constexpr std::int64_t page = 1000;
constexpr const char* most_of_note = "4096";

/// Returns the number of items, from the first one on, that go into one call.
template <typename Name>
std::size_t batch_of(std::span<const Name> items, std::size_t most) {
  std::size_t count = 0, bytes = 0;
  while (count < items.size() && count < most && bytes < bytes_at_once)
    bytes += items[count++].size();
  return count;
}

}  // namespace

void ItemChanges::pass(const redis::Script& script, const redis::Command& keys,
                       const std::function<void(redis::Command&)>& add_args,
                       const std::function<void(std::span<const redis::ReplyCopy>)>& each) {
  ListPass pass;
  while (const auto part = pass.next()) {
    const std::string first = std::to_string(part->first);
    const std::string count = std::to_string(part->count);
    const std::string fingerprints = std::to_string(part->fingerprints);
    redis::Command args{first, count, list_part_bytes, fingerprints};
    add_args(args);
    const redis::ReplyCopy reply = client_.run(script, keys, args);
    const auto& words = reply.elements;
    if (words.size() < 4) return;
    ListPass::Reply read{words[0].number, words[1].number, words[2].number == 1, {}};
    for (const redis::ReplyCopy& one : words[3].elements) read.fingerprints.push_back(one.text);
    pass.take(read);
    each(std::span(words).subspan(4));
  }
}

std::string ItemChanges::find(std::span<const Item> items) {
  if (client_.call({"LLEN", keys_.list}).number <= short_list) {
    std::string found;
    for (const Item& item : items)
      found += client_.call({"LPOS", keys_.list, item}).is_nil() ? '0' : '1';
    return found;
  }
  std::vector<std::string_view> names;  // unique
  std::unordered_map<std::string_view, std::size_t> places;
  for (const Item& item : items)
    if (places.try_emplace(item, names.size()).second) names.emplace_back(item);
  std::string listed(names.size(), '0');
  for (std::size_t first = 0, count = 0; first < names.size(); first += count) {
    count = batch_of(std::span<const std::string_view>(names).subspan(first), names_of_pass);
    pass(
        scripts::find, {keys_.list},
        [&](redis::Command& args) {
          args.insert(args.end(), &names[first], &names[first] + count);
        },
        [&](std::span<const redis::ReplyCopy> words) {
          for (const redis::ReplyCopy& number : words)
            listed.at(first + static_cast<std::size_t>(number.number) - 1) = '1';
        });
  }
  std::string found;
  for (const Item& item : items) found += listed[places[item]];
  return found;
}

template <typename Result>
std::vector<Result> ItemChanges::run(const redis::Script& script, const redis::Command& keys,
                                     Locks locks, const redis::Command& args,
                                     const std::vector<Item>& items, std::string listed) {
  std::vector<Result> results;
  for (std::size_t first = 0; first < items.size();) {
    const std::size_t end = first + batch_of(std::span<const Item>(items).subspan(first), at_once);
    std::vector<std::string> names;
    for (std::size_t i = first; i < end; ++i) {
      names.push_back(keys_.lock(items[i]));
      if (locks == Locks::both) names.push_back(keys_.other_lock_prefix + items[i]);
    }
    redis::Command all_keys(keys);
    all_keys.insert(all_keys.end(), names.begin(), names.end());
    redis::Command all_args{listed.empty() ? std::string_view()
                                           : std::string_view(listed).substr(first, end - first)};
    all_args.insert(all_args.end(), args.begin(), args.end());
    for (std::size_t i = first; i < end; ++i) all_args.emplace_back(items[i]);
    const redis::ReplyCopy reply = client_.run(script, all_keys, all_args);
    if (reply.elements.empty() && listed.empty()) {
      listed = std::string(first, '0') + find(std::span(items).subspan(first));
      continue;
    }
    for (std::size_t i = 0; i < end - first; ++i)
      results.push_back(
          static_cast<Result>(i < reply.elements.size() ? reply.elements[i].number : 0));
    first = end;
  }
  return results;
}

std::vector<AddedAs> ItemChanges::add(const std::vector<Item>& items, bool again) {
  std::vector<AddedAs> added;
  while (added.size() < items.size()) {
    const auto rest = std::span(items).subspan(added.size());
    const auto some = rest.first(batch_of(rest, max_added));
    std::string results = add(some, again, {}).results;
    results.resize(some.size(), '0');
    for (const char result : results)
      added.push_back(result == '1' ? AddedAs::added : AddedAs::listed_already);
  }
  return added;
}

RecordedReply ItemChanges::add(std::span<const Item> items, bool again,
                               const RequestRecord& request) {
  std::vector<std::string> locks;
  for (const Item& item : items) {
    locks.push_back(keys_.lock(item));
    locks.push_back(keys_.other_lock_prefix + item);
  }
  redis::Command names{keys_.list, keys_.failures, keys_.quarantined};
  names.insert(names.end(), locks.begin(), locks.end());
  std::string listed;
  while (true) {
    redis::Command args{listed,      again ? "1" : "0", keys_.wake,
                        request.key, request.hash,      request.data};
    args.insert(args.end(), items.begin(), items.end());
    const redis::ReplyCopy reply = client_.run(scripts::add, names, args);
    const bool is_long = !reply.elements.empty() && reply.elements.front().text == "long";
    if (!is_long || !listed.empty()) return read_recorded(reply);
    listed = find(items);
  }
}

std::vector<std::int64_t> ItemChanges::remove_all(const std::vector<Item>& items,
                                                  const std::string& state) {
  std::vector<std::int64_t> copies(items.size(), 0);
  for (std::size_t first = 0, count = 0; first < items.size(); first += count) {
    count = batch_of(std::span<const Item>(items).subspan(first), names_of_pass);
    std::string removed(count, '0');
    pass(
        scripts::remove, {keys_.list, keys_.failures, keys_.quarantined},
        [&](redis::Command& args) {
          args.insert(args.end(), {state, keys_.lock_prefix, keys_.other_lock_prefix, removed});
          args.insert(args.end(), &items[first], &items[first] + count);
        },
        [&](std::span<const redis::ReplyCopy> words) {
          for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
            const auto place = static_cast<std::size_t>(words[i].number) - 1;
            std::int64_t& sum = copies.at(first + place);
            sum = words[i + 1].number < 0 ? words[i + 1].number
                                          : std::max<std::int64_t>(0, sum) + words[i + 1].number;
            if (sum > 0) removed.at(place) = '1';
          }
        });
  }
  if (!state.empty()) return copies;
  // An item that is not in the list can have left its delay or quarantine behind.
  std::vector<Item> left;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (copies[i] == 0) left.push_back(items[i]);
  try {
    run<ReleasedAs>(scripts::release, {keys_.list, keys_.failures, keys_.quarantined}, Locks::both,
                    {keys_.wake}, left, std::string(left.size(), '0'));
  } catch (const redis::RedisError&) {
    // The removal has succeeded, and this user may not do more.
  }
  return copies;
}

std::vector<std::size_t> ItemChanges::remove(const std::vector<Item>& items) {
  std::vector<std::size_t> copies;
  for (const std::int64_t count : remove_all(items, {}))
    copies.push_back(static_cast<std::size_t>(count));
  return copies;
}

std::vector<std::optional<std::size_t>> ItemChanges::remove(const std::vector<Item>& items,
                                                            const std::string& state) {
  std::vector<std::optional<std::size_t>> copies;
  for (const std::int64_t count : remove_all(items, state))
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

MovedAs ItemChanges::move_first(const Item& item) {
  const std::string own = keys_.lock(item);
  const std::string other = keys_.other_lock_prefix + item;
  const redis::ReplyCopy reply = client_.run(
      scripts::move_first, {keys_.list, keys_.quarantined, own, other}, {keys_.wake, item});
  return static_cast<MovedAs>(reply.number);
}

RerunAs ItemChanges::rerun(const Item& item) {
  const std::string own = keys_.lock(item);
  const std::string other = keys_.other_lock_prefix + item;
  const redis::ReplyCopy reply =
      client_.run(scripts::rerun, {keys_.list, keys_.quarantined, keys_.reruns, own, other},
                  {keys_.wake, item});
  return static_cast<RerunAs>(reply.number);
}

std::vector<DisplayItem> ItemChanges::change_long(const char* what, const std::string& which,
                                                  const std::string& note) {
  std::vector<DisplayItem> changed;
  const std::string shown = std::to_string(item_shown);
  pass(
      scripts::change_long_items, {keys_.list, keys_.failures, keys_.quarantined},
      [&](redis::Command& args) {
        args.insert(args.end(), {keys_.lock_prefix, keys_.other_lock_prefix, what, which, shown,
                                 keys_.wake, note});
      },
      [&](std::span<const redis::ReplyCopy> words) {
        for (std::size_t i = 0; i + 1 < words.size(); i += 2)
          changed.emplace_back(words[i].text, static_cast<std::size_t>(words[i + 1].number));
      });
  return changed;
}

std::vector<DisplayItem> ItemChanges::change_long(LongChange what,
                                                  const std::vector<std::string>& states) {
  std::string which = " ";
  for (const std::string& state : states) which += state + " ";
  return change_long(what == LongChange::remove ? "remove" : "release", which, {});
}

std::vector<DisplayItem> ItemChanges::quarantine_long(const RunId& run,
                                                      const QuarantineNote& note) {
  return change_long("quarantine", run.str(), to_text(note));
}

std::vector<ItemChanges::Quarantined> ItemChanges::quarantined() {
  std::vector<Quarantined> all;
  std::set<Item> seen;  // HSCAN may return an entry twice
  std::string cursor = "0";
  const std::string entries = std::to_string(page);
  const std::string shown = std::to_string(item_shown);
  do {
    const redis::ReplyCopy reply = client_.run(scripts::quarantine_page, {keys_.quarantined},
                                               {cursor, entries, shown, most_of_note});
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
