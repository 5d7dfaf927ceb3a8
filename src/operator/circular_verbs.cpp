// Verbs of circular lists.
#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "operator/circular_items.hpp"
#include "operator/cursor.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/stored.hpp"
#include "store/circular/item_changes.hpp"

namespace w8y::verbs {

namespace {

using view::ItemView;

/// Items that one page may read, and items per query if only some match.
constexpr std::size_t max_items = 8000;
constexpr std::size_t items_at_once = 2000;
/// Limit of numbers in a forged cursor; no list is that long.
constexpr std::int64_t max_places = std::int64_t{1} << 40;

/// Number of times that a part is read again, if the list was rotated between the search for its
/// start and the read.
constexpr int max_tries = 5;

/// Iteration over a circular list in parts. Hosts may rotate the list between two parts, even by
/// more than one cycle. Items that a rotation moved from the end to the start are read last.
class CircularWalk {
 public:
  CircularWalk(QueryContext& query, const store::CircularKeys& keys, const std::string& after)
      : query_(query), keys_(keys) {
    const auto fields = read_cursor(after, "list", 4);
    if (fields.empty()) return;
    again_ = fields[0] == "again";
    at_ = static_cast<std::size_t>(std::min(cursor_number(fields[1]), max_places));
    turned_ = std::min(cursor_number(fields[2]), max_places);
    last_ = fields[3];
  }

  /// Reads the next part. False: there are no more items.
  bool next(const ItemFilter& filter, std::size_t count, ItemPart& part) {
    if (done()) return false;
    for (int tries = 1;; ++tries) {
      const bool known = find();
      const std::size_t place = at_;
      const bool around = read(filter, count, known && tries < max_tries ? last_ : Item(), part);
      if (part.moved) continue;
      // The start of the part was read by a call of its own.
      if (!around || !known || tries == max_tries || !find() || at_ == place) {
        again_ = again_ || around;
        break;
      }
    }
    was_again_ = again_;
    was_turned_ = turned_;
    at_ = part.end;
    last_ = part.before_end;
    if (part.last) reach_end();
    return true;
  }
  /// Continues after this item of the last part.
  void go_behind(const ItemView& item) {
    done_ = false;
    again_ = was_again_;
    turned_ = was_turned_;
    at_ = item.position + 1;
    last_ = item.cut() ? std::string() : item.item;
  }
  [[nodiscard]] bool done() const { return done_ || (again_ && untold() == 0); }
  [[nodiscard]] std::string cursor() const {
    return make_cursor(
        {"list", again_ ? "again" : "first", std::to_string(at_), std::to_string(turned_), last_});
  }

 private:
  /// Finds the current index of the last item returned. False: not known.
  bool find() {
    if (last_.empty()) return false;
    const auto at = static_cast<std::int64_t>(at_);
    const auto told = query_.redis.pipeline({{"LPOS", keys_.list, last_}});
    if (told[0].kind != redis::ReplyCopy::Kind::integer) return false;
    std::int64_t now = told[0].number + 1;
    if (now != at) now = nearest(at);
    // Items that were returned and moved to the end again are returned again.
    turned_ = std::max<std::int64_t>(0, turned_ + now - at);
    at_ = static_cast<std::size_t>(now);
    return true;
  }
  /// Returns the index after the nearest copy of the item. From the first copy of an item that the
  /// list has several times, the iteration would never end.
  [[nodiscard]] std::int64_t nearest(std::int64_t at) {
    const auto places =
        query_.redis.pipeline({{"LPOS", keys_.list, last_, "COUNT", "0"}})[0].elements;
    std::int64_t best = at;
    std::int64_t farthest = max_places;
    for (const redis::ReplyCopy& place : places) {
      const std::int64_t far = std::abs(place.number + 1 - at);
      if (far < farthest) best = place.number + 1;
      farthest = std::min(far, farthest);
    }
    return best;
  }
  /// Reads from `at_`, after the item `behind`. True: that was the end of the list, and the part is
  /// from its start.
  bool read(const ItemFilter& filter, std::size_t count, const Item& behind, ItemPart& part) {
    const auto wanted = [&](const ItemView& item) { return filter.fits_name(item.item); };
    part = read_item_part(query_.redis, keys_, at_, again_ ? std::min(count, untold()) : count,
                          behind, wanted);
    if (part.moved || again_ || turned_ <= 0 || part.end > at_) return false;
    const auto left = static_cast<std::size_t>(turned_);
    part = read_item_part(query_.redis, keys_, 0, std::min(count, left), {}, wanted);
    return true;
  }
  /// Returns the items at the start, after `at_`, that were not returned yet.
  [[nodiscard]] std::size_t untold() const {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, turned_ - static_cast<std::int64_t>(at_)));
  }
  /// Continues at the start with the remaining items.
  void reach_end() {
    if (std::exchange(again_, false)) turned_ -= static_cast<std::int64_t>(at_);
    done_ = turned_ <= 0 || at_ == 0;
  }

  QueryContext& query_;
  const store::CircularKeys& keys_;
  bool again_ = false;      ///< at the start, after the end
  bool was_again_ = false;  ///< again_ and turned_ as they were at the last part
  std::int64_t was_turned_ = 0;
  bool done_ = false;
  std::size_t at_ = 0;
  std::int64_t turned_ = 0;  ///< items that now precede those already returned
  std::string last_;         ///< item before `at_`
};

void list_circular(QueryContext& query, const std::string& list, const ItemFilter& filter,
                   const PageRequest& part, ItemsPage& found) {
  const store::CircularKeys keys = circular_keys(query, list);
  found.length = query.redis.call({"LLEN", keys.list}).number;
  CircularWalk walk(query, keys, part.after);
  const bool all = filter.state.empty() && filter.search.empty();
  std::size_t looked = 0;
  auto& items = found.items;
  for (ItemPart read; walk.next(filter, all ? part.limit - items.size() : items_at_once, read);) {
    for (ItemView& item : read.items) {
      if (!filter.state.empty() && filter.state != item.state) continue;
      if (items.size() + 1 == part.limit && &item != &read.items.back()) walk.go_behind(item);
      items.push_back(std::move(item));
      if (items.size() == part.limit) break;
    }
    looked += all ? std::max<std::size_t>(1, read.items.size()) : items_at_once;
    if (items.size() < part.limit && looked < max_items) continue;
    if (!walk.done()) found.next = walk.cursor();
    return;
  }
}

std::optional<ItemView> circular_details(QueryContext& query, const std::string& list,
                                         const Item& name) {
  ItemView item = read_item(query.redis, circular_keys(query, list), name);
  return item.copies == 0 ? std::nullopt : std::optional(std::move(item));
}

/// Items that are read for statistics of a list.
constexpr std::size_t max_summarized = 10'000;

WhyItems count_circular(QueryContext& query, const WhyList& list) {
  const view::ItemList found =
      read_items(query.redis, circular_keys(query, list.name), {}, max_summarized);
  WhyItems items;
  items.length = found.length;
  for (const auto& [state, count] : found.states) {
    items.states[state] = count;
    items.examined += count;
  }
  if (found.whole) items.length = items.examined;  // without copies
  for (const view::ItemView& item : found.items) {
    if (item.state != "delayed" || !item.left) continue;
    items.first_free = std::min<Duration>(items.first_free.value_or(Duration::max()), *item.left);
    items.last_free = std::max<Duration>(items.last_free.value_or(Duration{0}), *item.left);
  }
  return items;
}

void quarantine_circular(QueryContext& query, const view::RunView& run, const ChangeNote& change) {
  const store::QuarantineNote note{{}, change.by, change.reason, change.now};
  store::ItemChanges changes(query.redis, circular_keys(query, run.list));
  const DisplayItem& item = run.status.item;
  // w8yd reports only the start of a long item; the lock of the run identifies it.
  const bool done = item.is_truncated() ? !changes.quarantine_long(run.status.run, note).empty()
                                        : changes.quarantine({item.beginning}, note).front() !=
                                              store::QuarantinedAs::not_listed;
  if (!done)
    throw QueryError(409, "item " + item_text(item) + " is not in the list " +
                              escape_text(run.list) + " any more, and cannot be quarantined");
}

std::vector<ChangedItem> change_circular(QueryContext& query, const std::string& list,
                                         const std::string& id, const std::vector<Item>& items,
                                         GroupChange change, const ChangeNote& note) {
  if (change == GroupChange::release) return release_items(query, list, items);
  if (change == GroupChange::quarantine) return quarantine_items(query, list, items, note);
  const std::string name = escape_text(list);
  throw QueryError(
      409, "the list " + name + " has no jobs that can be stalled; to release its items: " +
               "w8yctl errors " + shell_argument(list) + " " + shell_argument(id) + " --release");
}

}  // namespace

const KindVerbs circular_verbs{
    .copy_settings = [](const ListConfig& rule,
                        KnownList& into) { into.lock_key = rule.lock_key(); },
    .list_items = list_circular,
    .show_item = circular_details,
    .find_item =
        [](QueryContext& query, const std::string& list, const Item& name) {
          return std::optional(
              read_item(query.redis, circular_keys(query, list), name, Copies::found));
        },
    .count_items = count_circular,
    .quarantine_run = quarantine_circular,
    .all_items =
        [](QueryContext& query, const std::string& list, const std::string& state,
           std::size_t most) {
          return read_items(query.redis, circular_keys(query, list), state, most);
        },
    .change_group = change_circular,
};

}  // namespace w8y::verbs
