#include "app/look/ring.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "app/look/item_states.hpp"
#include "core/json_object.hpp"
#include "ops/status_json.hpp"
#include "store/circular/keys.hpp"

namespace w8y::app::look {

namespace {

/// A sample is of so many pieces, evenly over the list.
constexpr std::size_t pieces = 100;
/// Items that are named one by one, all of a short list, or of any those that are not free.
constexpr std::size_t most_names = 400;
constexpr std::size_t most_held = 500;
/// Bytes of a name.
constexpr std::size_t most_name = 120;
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

char letter_of(const ItemState& item) {
  const std::string_view state = item.state;
  return state == "resting" ? 's' : state.front();
}

ShownItem name_of(const ItemState& item) {
  std::string_view text = item.item;
  if (text.size() <= most_name) return item.shown();
  std::size_t end = most_name;
  while (end > most_name - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  ShownItem name;
  name.beginning = text.substr(0, end);
  name.length = item.length;
  return name;
}

ops::Json held_json(const ItemState& item, std::size_t at, WallTime now) {
  ops::Json json = {{"at", at}};
  ops::put_item(json, name_of(item));
  json["state"] = item.state;
  const auto put = [&json](const char* name, const std::string& text) {
    if (!text.empty()) ops::put_bytes(json, name, text);
  };
  put("host", item.host);
  put("run", item.run);
  put("by", item.by);
  put("why", item.why);
  if (item.since) json["since_ms"] = item.since->count();
  if (item.left && std::string_view(item.state) == "resting")
    json["until_ms"] = (now + *item.left).count();
  return json;
}

/// What runs first, then what waits for somebody, then what rests.
int rank_of(const ItemState& item) {
  const char letter = letter_of(item);
  return letter == 'r' ? 0 : letter == 'q' ? 1 : 2;
}

std::string held_text(const std::vector<ItemState>& items, WallTime now) {
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (letter_of(items[i]) != 'f') held.push_back(i);
  std::stable_sort(held.begin(), held.end(), [&items](std::size_t a, std::size_t b) {
    return rank_of(items[a]) < rank_of(items[b]);
  });
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(held.size(), most_held); ++i)
    text.append(i > 0 ? "," : "").append(ops::dump(held_json(items[held[i]], held[i], now)));
  return text + "]";
}

WallTime redis_now(redis::SyncClient& client, const std::string& key) {
  client.call({"EXISTS", key});  // in a cluster, TIME is asked where it is
  return redis::server_time(client.call({"TIME"}));
}

const Rule& ring_rule_of(const Sight& sight, const std::string& prefix) {
  const auto found = sight.config.lists.find(prefix);
  if (found == sight.config.lists.end()) throw Refusal(404, "there is no such list");
  if (found->second->kind() != SourceKind::circular)
    throw Refusal(409, "only circular lists are circles; this one has jobs");
  return *found->second;
}

}  // namespace

void RingTurn::note(std::vector<std::uint64_t> hashes) {
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

std::string ring_text(Sight& sight, const std::string& prefix, std::size_t most, RingTurn& turn) {
  const store::CircularKeys keys(ring_rule_of(sight, prefix));
  const auto length = static_cast<std::size_t>(sight.redis.call({"LLEN", keys.list}).number);
  const WallTime now = redis_now(sight.redis, keys.list);
  const bool sampled = length > most;
  std::vector<ItemState> items;
  std::string parts = "[";
  for (const Piece& piece : pieces_of(length, most)) {
    std::vector<ItemState> some = read_part(sight.redis, keys, piece.first, piece.count);
    parts.append(parts.size() > 1 ? ",[" : "[").append(std::to_string(piece.first));
    parts.append(",").append(std::to_string(some.size())).append("]");
    std::move(some.begin(), some.end(), std::back_inserter(items));
  }
  std::string states;
  std::vector<std::uint64_t> hashes;
  for (const ItemState& item : items) {
    states += letter_of(item);
    hashes.push_back(std::hash<std::string>()(item.item));
  }
  sampled ? turn.forget() : turn.note(std::move(hashes));

  core::JsonObject json(items.size() + 1024);
  json.put_bytes("list", prefix);
  json.put("now_ms", now.count());
  json.put("length", static_cast<std::int64_t>(length));
  json.put("looked_at", static_cast<std::int64_t>(items.size()));
  json.put_json("sampled", sampled ? "true" : "false");
  json.put_json("parts", parts + "]");
  json.put_json("turn", sampled ? "null" : std::to_string(turn.places()));
  json.put("ring", states);
  json.put_json("held", held_text(items, now));
  if (items.size() <= most_names) {
    ops::Json names = ops::Json::array();
    for (const ItemState& item : items) {
      ops::Json name = ops::Json::object();
      ops::put_item(name, name_of(item));
      names.push_back(std::move(name));
    }
    json.put_json("items", ops::dump(names));
  }
  std::string text = json.take();
  text.pop_back();
  return text;
}

}  // namespace w8y::app::look
