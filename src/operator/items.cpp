#include "operator/items.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/escape.hpp"
#include "operator/circular_items.hpp"
#include "operator/cursor.hpp"
#include "operator/feed_jobs.hpp"
#include "operator/item_changes.hpp"
#include "operator/job_total.hpp"
#include "operator/key_pages.hpp"
#include "operator/lists.hpp"
#include "operator/schedule_jobs.hpp"
#include "operator/schedules.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

using view::ItemView;

namespace {

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

void circular_items(QueryContext& query, const store::CircularKeys& keys, const ItemFilter& filter,
                    const PageRequest& part, ItemsPage& found) {
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

void feed_items(QueryContext& query, const std::string& feed, const ItemFilter& filter,
                const PageRequest& part, ItemsPage& found) {
  enum Phases : std::size_t { claimed, waiting, stalled, nowhere };
  const store::FeedKeys keys(feed);
  found.length = query.redis.call({"HLEN", keys.items}).number;
  redis::SyncClient& client = query.redis;
  walk(found,
       {by_score(client, keys.claimed), from_taking_end(client, keys.ids),
        scanned_set(client, keys.stalled), scanned_hash(client, keys.nowhere)},
       part, [&](std::size_t phase, const Step& step) {
         auto jobs = read_feed_jobs_named(client, feed, step.names);
         for (std::size_t i = 0; i < jobs.size(); ++i) {
           if (!jobs[i]) continue;
           ItemView& job = *jobs[i];
           const bool is_waiting = job.state == "queued", is_stalled = job.state == "stalled";
           const bool is_elsewhere = phase == claimed
                                         ? is_waiting || is_stalled
                                         : (phase == stalled ? !is_stalled : !is_waiting);
           if (phase == nowhere) job.state = "orphaned";
           if (phase == waiting) job.queue_position = std::stoul(step.behind[i][0]);
           if (is_elsewhere || !filter.fits(job)) jobs[i].reset();
         }
         return jobs;
       });
}

std::optional<ItemView> schedule_item(QueryContext& query, const std::string& list,
                                      const Item& job) {
  const ScheduleOfList of = schedule_of(query, list);
  const store::ScheduleKeys& keys = of.keys;
  const auto there =
      query.redis.pipeline({{"HEXISTS", keys.statuses, job}, {"HEXISTS", keys.schedules, job}});
  if (there[0].number + there[1].number == 0 || of.shared.has_job(job)) return std::nullopt;
  auto jobs = read_jobs_named(query.redis, of, {job});
  std::vector<ItemView> items(std::make_move_iterator(jobs.begin()),
                              std::make_move_iterator(jobs.end()));
  read_schedules(query, list, items);
  return std::move(items.front());
}

}  // namespace

bool ItemFilter::fits(const ItemView& of) const {
  return (state.empty() || state == of.state) && fits_name(of.item);
}

ItemsPage list_items(QueryContext& query, const std::string& list, const ItemFilter& filter,
                     const PageRequest& part) {
  ItemsPage found;
  found.kind = kind_with_items(query, list);
  check_state(list, filter.state, view::item_states(found.kind));
  switch (found.kind) {
    case SourceKind::circular:
      circular_items(query, circular_keys(query, list), filter, part, found);
      break;
    case SourceKind::schedule:
      found.length =
          static_cast<std::int64_t>(number_of_jobs(query.redis, schedule_of(query, list)));
      walk_schedule(found, query, list, filter, part);
      break;
    case SourceKind::job:
      feed_items(query, list, filter, part, found);
      break;
    case SourceKind::gearman:
      break;
  }
  return found;
}

view::ItemList all_items(QueryContext& query, const std::string& list, SourceKind kind,
                         const std::string& state, std::size_t most) {
  switch (kind) {
    case SourceKind::schedule:
      check_hash_tag(query, list);
      return read_jobs(query.redis, schedule_of(query, list), queues_of(query, list), state, most);
    case SourceKind::job:
      return read_feed_jobs(query.redis, query.cluster(), list, state, most);
    case SourceKind::circular:
    case SourceKind::gearman:
      break;
  }
  return read_items(query.redis, item_keys(query, list), state, most);
}

ItemDetail show_item(QueryContext& query, const std::string& list, const Item& name) {
  ItemDetail found;
  found.kind = kind_with_items(query, list);
  std::optional<ItemView> item;
  if (found.kind == SourceKind::circular) {
    item = read_item(query.redis, circular_keys(query, list), name);
    if (item->copies == 0) item.reset();
  } else {
    item = found.kind == SourceKind::schedule ? schedule_item(query, list, name)
                                              : read_feed_job(query.redis, list, name);
  }
  if (!item)
    throw QueryError(404, "there is no " +
                              std::string(found.kind == SourceKind::circular ? "item " : "job ") +
                              escape_text(name) + " in " + escape_text(list));
  found.item = std::move(*item);
  if (found.kind == SourceKind::job) {
    std::vector<ItemView> jobs{std::move(found.item)};
    read_payloads(query.redis, query.cluster(), list, jobs, false);
    found.item = std::move(jobs.front());
  }
  const KeyNames names = key_names(query, list);
  if (found.kind == SourceKind::schedule) found.key_prefix = names.prefix;
  found.runs = runs_of_item(query.redis, names, name);
  found.changes = read_changes(query.redis, names, DisplayItem(name));
  return found;
}

}  // namespace w8y::verbs
