#include "operator/ring.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "operator/circular_items.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

using view::ItemView;

namespace {

/// Pieces of a sample, spread evenly over the list.
constexpr std::size_t pieces = 100;
/// Items that are searched for at their former index.
constexpr std::size_t witnesses = 64;

using Piece = Ring::Piece;

std::vector<Piece> pieces_of(std::size_t length, std::size_t most) {
  if (length <= most) return {{0, length}};
  // Both ends of the list are included: where items are claimed, and where they are added.
  std::vector<Piece> all;
  const std::size_t many = std::min(pieces, most);
  const std::size_t count = most / many;
  for (std::size_t i = 0; i < many; ++i)
    all.push_back({many == 1 ? 0 : i * (length - count) / (many - 1), count});
  return all;
}

WallTime redis_now(redis::SyncClient& client, const std::string& key) {
  client.call({"EXISTS", key});  // in a cluster, TIME is then sent to the node of the key
  return redis::server_time(client.call({"TIME"}));
}

store::CircularKeys ring_keys(const QueryContext& query, const std::string& prefix) {
  const auto list = query.lists->find(prefix);
  if (!list) throw QueryError(404, "there is no such list");
  if (!list->kind->in_redis || verbs_of(*list->kind).refuse_items != nullptr)
    throw QueryError(409, "only circular lists have a ring; this list has jobs");
  return circular_keys(query, prefix);
}

}  // namespace

void RingRotation::record(std::vector<std::uint64_t> hashes) {
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

Ring read_ring(QueryContext& query, const std::string& prefix, std::size_t most,
               RingRotation& turn) {
  const store::CircularKeys keys = ring_keys(query, prefix);
  Ring ring;
  ring.length = static_cast<std::size_t>(query.redis.call({"LLEN", keys.list}).number);
  ring.now = redis_now(query.redis, keys.list);
  for (const Piece& piece : pieces_of(ring.length, most)) {
    std::vector<ItemView> some = read_part(query.redis, keys, piece.first, piece.count);
    ring.pieces.push_back({piece.first, some.size()});
    for (ItemView& item : some) {
      if (item.left && item.state == "delayed")
        item.until = ring.now + std::chrono::duration_cast<WallTime>(*item.left);
      ring.items.push_back(std::move(item));
    }
  }
  if (ring.length > most) {
    turn.forget();
    return ring;
  }
  std::vector<std::uint64_t> hashes;
  for (const ItemView& item : ring.items) hashes.push_back(std::hash<std::string>()(item.item));
  turn.record(std::move(hashes));
  ring.rotation = turn.places();
  return ring;
}

}  // namespace w8y::verbs
