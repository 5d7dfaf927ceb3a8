#include "store/circular/list_part.hpp"

#include <utility>

#include "core/item.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

constexpr const char* state_bytes = "4096";
constexpr std::size_t words_of_long_item = 7;

}  // namespace

std::string ListedItem::identity() const {
  if (!is_cut()) return beginning;
  return std::string("long\0", 5) +
         (digest.empty() ? std::to_string(length) + ':' + beginning : digest);
}

ListPart read_list_part(redis::SyncClient& client, const CircularKeys& keys, std::int64_t first,
                        std::int64_t count, LongStates states) {
  const std::string from = std::to_string(first);
  const std::string wanted = std::to_string(count);
  const std::string shown = std::to_string(item_shown);
  const redis::ReplyCopy reply = client.run(
      scripts::items_page, {keys.list, keys.failures, keys.quarantined},
      {from, wanted, list_part_bytes, shown, state_bytes,
       states == LongStates::read ? std::string_view(keys.lock_prefix) : std::string_view()});
  ListPart part;
  const auto& words = reply.elements;
  if (words.size() < 3) {
    part.whole = true;
    return part;
  }
  part.first = words[0].number;
  part.whole = words[2].number == 1;
  for (const redis::ReplyCopy& item : words[1].elements)
    part.items.push_back({item.text, item.text.size(), {}, {}});
  for (std::size_t i = 3; i + words_of_long_item <= words.size(); i += words_of_long_item) {
    const auto place = static_cast<std::size_t>(words[i].number) - 1;
    if (place >= part.items.size()) continue;
    ListedItem& item = part.items[place];
    item.length = static_cast<std::size_t>(words[i + 1].number);
    item.digest = words[i + 2].text;
    if (states == LongStates::read)
      item.state.assign(words.begin() + static_cast<std::ptrdiff_t>(i + 3),
                        words.begin() + static_cast<std::ptrdiff_t>(i + words_of_long_item));
  }
  return part;
}

void read_whole_list(redis::SyncClient& client, const CircularKeys& keys, LongStates states,
                     const std::function<void(ListPart&&)>& each) {
  ListPass pass;
  while (const auto next = pass.next()) {
    ListPart part = read_list_part(client, keys, next->first, next->count, states);
    ListPass::Reply reply{part.first, std::ssize(part.items), part.whole, {}};
    for (auto item = part.items.rbegin();
         item != part.items.rend() && std::ssize(reply.fingerprints) < next->fingerprints; ++item)
      if (!item->is_cut() || !item->digest.empty()) reply.fingerprints.push_back(item->identity());
    part.moved = next->moved;
    pass.take(reply);
    if (part.whole) each(std::move(part));
  }
}

}  // namespace w8y::store
