#include "operator/history.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "operator/stored.hpp"

namespace w8y::verbs {

namespace {

/// Entries per read; each may contain the end of a log output.
constexpr std::size_t page_of_one = 100;
constexpr std::size_t page_of_many = 10;
/// Entries per read if there are more than max_lists lists; each read starts with the last entry of
/// the previous one.
constexpr std::size_t page_of_most = 3;
constexpr std::size_t max_lists = 1000;
/// Histories per batch.
constexpr std::size_t histories_at_once = 128;
/// Of this number of consecutive entries, at least one contains the time at which it was added
/// (parts/history.lua).
constexpr std::size_t max_together = 32;
/// Returns a digest of an entry (FNV-1a).
std::uint64_t digest(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

std::optional<view::RunRecord> kept_run(const std::string& list, const redis::ReplyCopy& reply) {
  std::optional<WallTime> entered;
  return view::read_record(list, reply.text, entered);
}

}  // namespace

std::optional<view::RunRecord> read_kept_run(redis::SyncClient& client, const KeyNames& list,
                                             const Item& item) {
  const std::string key = list.own("kept-runs");
  return kept_run(list.list, client.call({"HGET", key, item}));
}

void read_kept_runs(redis::SyncClient& client, const std::vector<KeyNames>& lists,
                    const std::function<bool(view::RunRecord&&)>& take) {
  for (std::size_t first = 0; first < lists.size(); first += histories_at_once) {
    const std::size_t end = std::min(lists.size(), first + histories_at_once);
    std::vector<std::string> keys;
    keys.reserve(end - first);
    std::vector<redis::Command> commands;
    for (std::size_t i = first; i < end; ++i)
      commands.push_back({"HLEN", keys.emplace_back(lists[i].own("kept-runs"))});
    const std::vector<redis::ReplyCopy> lengths = client.pipeline(commands);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (lengths[i].number == 0) continue;
      bool more = true;
      scan(client, "HSCAN", keys[i], "100", [&](const redis::ReplyCopy* record) {
        auto run = kept_run(lists[first + i].list, record[1]);
        return more = !run || take(std::move(*run));
      });
      if (!more) return;
    }
  }
}

History::History(redis::SyncClient& client, const std::vector<KeyNames>& lists, Of which)
    : client_(client) {
  for (const KeyNames& list : lists)
    for (const char* name : {"runs", "failed-runs"}) {
      if (which == Of::failed_runs && std::string_view(name) == "runs") continue;
      Reader& reader = readers_.emplace_back();
      reader.list = list.list;
      reader.key = list.own(name);
    }
}

bool History::next(view::RunRecord& run) {
  while (true) {
    fill();
    Reader* newest = nullptr;
    for (auto& reader : readers_)
      if (!reader.page.empty() &&
          (newest == nullptr || newest->page.back().run.entered < reader.page.back().run.entered))
        newest = &reader;
    if (newest == nullptr) return false;
    run = std::move(newest->page.back().run);
    newest->place = newest->page.back().place;
    newest->place.entered = run.entered;
    newest->page.pop_back();
    if (kept_.empty() || run.run != kept_) return true;
    // A history may have it as well. It has the whole log output, and comes first.
    if (!std::exchange(kept_read_, true)) return true;
  }
}

std::vector<History::Place> History::places() const {
  std::vector<Place> places;
  for (std::size_t i = 0; i < of_list; ++i) places.push_back(readers_[i].place);
  return places;
}

void History::next_step(const std::vector<Place>& places) {
  for (std::size_t i = 0; i < of_list; ++i) {
    Reader& reader = readers_[i];
    const Place& place = reader.place = places[i];
    reader.at = place.behind;
    if (place.behind == 0) continue;
    reader.last = place.entry;
    reader.entered = place.entered;
  }
}

void History::add_kept(view::RunRecord&& run) {
  kept_ = run.run;
  Reader& reader = readers_.emplace_back();
  reader.at_end = true;
  reader.page.push_back({std::move(run), {}});
}

void History::seek(WallTime time) {
  struct Span {
    Reader* reader;
    std::size_t low;
    std::size_t high;
    std::size_t before = 0;  ///< entries read before the middle one, for its time

    [[nodiscard]] std::size_t middle() const { return low + (high - low) / 2; }
    [[nodiscard]] std::size_t first() const { return middle() - std::min(middle(), before); }
    /// Keeps the entries after the middle one if it is later than the given time, otherwise those
    /// before it. Entries without a time, which another program wrote, count as not later.
    void narrow(bool later) { (later ? low : high) = later ? middle() + 1 : middle(); }
  };
  std::vector<Span> spans;
  std::vector<redis::Command> commands;
  for (Reader& reader : readers_) commands.push_back({"LLEN", reader.key});
  const std::vector<redis::ReplyCopy> lengths = client_.pipeline(commands);
  for (std::size_t i = 0; i < readers_.size(); ++i)
    spans.push_back({&readers_[i], 0, static_cast<std::size_t>(lengths[i].number)});
  while (true) {
    commands.clear();
    std::vector<std::string> places;
    std::vector<Span*> open;
    places.reserve(2 * histories_at_once);
    for (Span& span : spans)
      if (span.low < span.high && open.size() < histories_at_once) {
        open.push_back(&span);
        const std::string& from = places.emplace_back(std::to_string(span.first()));
        const std::string& to = places.emplace_back(std::to_string(span.middle()));
        commands.push_back({"LRANGE", span.reader->key, from, to});
      }
    if (open.empty()) break;
    const std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
    for (std::size_t i = 0; i < open.size(); ++i) {
      Span& span = *open[i];
      std::optional<WallTime> entered;
      for (const redis::ReplyCopy& entry : replies[i].elements)
        view::read_record(span.reader->list, entry.text, entered);
      read_ += replies[i].elements.size();
      // If many entries were added together, most do not contain the time.
      if (!entered && std::exchange(span.before, max_together - 1) == 0) continue;
      span.narrow(entered && *entered > time);
    }
  }
  // Entries added meanwhile precede these, and may not contain their time.
  for (const Span& span : spans) {
    span.reader->at = span.low - std::min(span.low, span.before);
    if (span.reader->at > 0) span.reader->entered.reset();
  }
}

/// Reads until each page has entries. A page may contain only entries that were read before.
void History::fill() {
  for (;;) {
    std::vector<Reader*> dry;
    for (auto& reader : readers_)
      if (reader.page.empty() && !reader.at_end) dry.push_back(&reader);
    if (dry.empty()) return;
    read_pages(dry);
  }
}

void History::read_pages(const std::vector<Reader*>& dry) {
  const std::size_t lists = (readers_.size() - (kept_.empty() ? 0 : 1)) / of_list;
  const std::size_t count = lists <= 1           ? page_of_one
                            : lists <= max_lists ? page_of_many
                                                 : page_of_most;
  for (std::size_t first = 0; first < dry.size(); first += histories_at_once) {
    std::vector<redis::Command> commands;
    std::vector<std::string> places;
    const std::size_t end = std::min(dry.size(), first + histories_at_once);
    places.reserve(2 * (end - first));
    for (std::size_t i = first; i < end; ++i) {
      const std::string& from = places.emplace_back(std::to_string(dry[i]->first()));
      const std::string& to = places.emplace_back(std::to_string(dry[i]->first() + count - 1));
      commands.push_back({"LRANGE", dry[i]->key, from, to});
    }
    const std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
    for (std::size_t i = first; i < end && i - first < replies.size(); ++i) {
      const redis::ReplyCopy& reply = redis::checked(replies[i - first]);
      dry[i]->add(reply.elements, count);
      read_ += reply.elements.size();
    }
  }
}

/// Processes a page. While runs end, entries move back: entries before the last one read were added
/// since or read before. If the last one read has been removed, so have all older ones.
void History::Reader::add(const std::vector<redis::ReplyCopy>& entries, std::size_t asked) {
  const std::size_t begin = first();
  std::size_t next = 0;
  if (last) {
    while (next < entries.size() && digest(entries[next].text) != *last) ++next;
    ++next;
  }
  for (; next < entries.size(); ++next) {
    last = digest(entries[next].text);
    if (auto run = view::read_record(list, entries[next].text, entered); run && entered)
      page.push_back({std::move(*run), {begin + next + 1, *last, WallTime{0}}});
  }
  at = begin + entries.size();
  at_end = entries.size() < asked;
  std::ranges::reverse(page);
}

}  // namespace w8y::verbs
