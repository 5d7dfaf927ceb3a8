#include "operator/ring.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/json_object.hpp"
#include "operator/circular_items.hpp"
#include "operator/lists.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

using view::ItemView;

namespace {

/// A sample is of so many pieces, evenly over the list.
constexpr std::size_t pieces = 100;
/// Items that are named one by one, all of a short list, or of any those that are not free.
constexpr std::size_t most_names = 400;
constexpr std::size_t most_held = 500;
/// Of the items that are looked for where they stood before.
constexpr std::size_t witnesses = 64;

struct Piece {
  std::size_t first = 0;
  std::size_t count = 0;
};

std::vector<Piece> pieces_of(std::size_t length, std::size_t most) {
  if (length <= most) return {{0, length}};
  // Both ends are in it: where items are taken, and where they are put.
  std::vector<Piece> all;
  const std::size_t many = std::min(pieces, most);
  const std::size_t count = most / many;
  for (std::size_t i = 0; i < many; ++i)
    all.push_back({many == 1 ? 0 : i * (length - count) / (many - 1), count});
  return all;
}

char letter_of(const ItemView& item) {
  return item.state == "delayed" ? 'd' : item.state.front();
}

/// What runs first, then what waits for somebody, then what rests.
int rank_of(const ItemView& item) {
  const char letter = letter_of(item);
  return letter == 'r' ? 0 : letter == 'q' ? 1 : 2;
}

std::string held_text(std::vector<ItemView>& items, WallTime now) {
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (letter_of(items[i]) != 'f') held.push_back(i);
  std::stable_sort(held.begin(), held.end(), [&items](std::size_t a, std::size_t b) {
    return rank_of(items[a]) < rank_of(items[b]);
  });
  core::JsonArray array;
  for (std::size_t i = 0; i < std::min(held.size(), most_held); ++i) {
    ItemView& item = items[held[i]];
    if (item.left && item.state == "delayed")
      item.until = now + std::chrono::duration_cast<WallTime>(*item.left);
    array.add(view::ring_json(item, held[i]));
  }
  return array.take();
}

WallTime redis_now(redis::SyncClient& client, const std::string& key) {
  client.call({"EXISTS", key});  // in a cluster, TIME is asked where it is
  return redis::server_time(client.call({"TIME"}));
}

store::CircularKeys ring_keys(const QueryContext& query, const std::string& prefix) {
  const auto list = query.lists->find(prefix);
  if (!list) throw Refusal(404, "there is no such list");
  if (list->kind != SourceKind::circular)
    throw Refusal(409, "only circular lists are circles; this one has jobs");
  return circular_keys(query, prefix);
}

}  // namespace

void RingRotation::note(std::vector<std::uint64_t> hashes) {
  const auto size = static_cast<std::int64_t>(hashes.size());
  if (!before_.empty() && size > 0) {
    std::unordered_map<std::uint64_t, std::int64_t> places;
    places.reserve(before_.size());
    for (std::size_t i = 0; i < before_.size(); ++i)
      places.emplace(before_[i], static_cast<std::int64_t>(i));
    std::map<std::int64_t, std::size_t> votes;
    const std::size_t step = std::max<std::size_t>(1, hashes.size() / witnesses);
    for (std::size_t i = 0; i < hashes.size(); i += step) {
      const auto was = places.find(hashes[i]);
      if (was == places.end()) continue;
      const std::int64_t moved = was->second - static_cast<std::int64_t>(i);
      ++votes[((moved % size) + size) % size];
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != votes.end()) places_ += most->first;
  }
  before_ = std::move(hashes);
}

std::string ring_text(QueryContext& query, const std::string& prefix, std::size_t most,
                      RingRotation& turn) {
  const store::CircularKeys keys = ring_keys(query, prefix);
  const auto length = static_cast<std::size_t>(query.redis.call({"LLEN", keys.list}).number);
  const WallTime now = redis_now(query.redis, keys.list);
  const bool sampled = length > most;
  std::vector<ItemView> items;
  std::string parts = "[";
  for (const Piece& piece : pieces_of(length, most)) {
    std::vector<ItemView> some = read_part(query.redis, keys, piece.first, piece.count);
    parts.append(parts.size() > 1 ? ",[" : "[").append(std::to_string(piece.first));
    parts.append(",").append(std::to_string(some.size())).append("]");
    std::move(some.begin(), some.end(), std::back_inserter(items));
  }
  std::string states;
  std::vector<std::uint64_t> hashes;
  for (const ItemView& item : items) {
    states += letter_of(item);
    hashes.push_back(std::hash<std::string>()(item.item));
  }
  sampled ? turn.forget() : turn.note(std::move(hashes));

  core::JsonObject json(items.size() + 1024);
  json.put_bytes("list", prefix);
  json.put("now_ms", now.count());
  json.put("length", length);
  json.put("examined", items.size());
  json.put("sampled", sampled);
  json.put_json("segments", parts + "]");
  json.put_json("rotation", sampled ? "null" : std::to_string(turn.places()));
  json.put("ring", states);
  json.put_json("locked", held_text(items, now));
  if (items.size() <= most_names) {
    json.put_json("items", core::json_array(items, view::ring_name));
  }
  std::string text = json.take();
  text.pop_back();
  return text;
}

}  // namespace w8y::verbs
