#include "app/ctl/item_states.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "app/ctl/text.hpp"
#include "source/quarantine_note.hpp"

namespace w8y::app::ctl {

namespace {

/// Items per call. Others rotate the list meanwhile, so a page is as long as one call may be.
constexpr std::int64_t longest_page = 100'000;
/// The same where only the first few are wanted.
constexpr std::int64_t short_page = 4096;
/// How much shorter the next try is after one whose answer was too large to be read.
constexpr std::int64_t shorter = 16;
/// Locks that are looked at in one step, and steps in one write.
constexpr std::size_t batch = 256;
constexpr std::size_t batches = 16;

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "<host>:<pid>:<run id>"; only the host may have a ':' in it.
void read_holder(ItemState& item, std::string_view holder) {
  const auto run = holder.rfind(':');
  if (run == std::string_view::npos || run == 0) return;
  const auto pid = holder.rfind(':', run - 1);
  if (pid == std::string_view::npos) return;
  item.host = holder.substr(0, pid);
  item.pid = holder.substr(pid + 1, run - pid - 1);
  item.run = holder.substr(run + 1);
  item.since = time_of_run(item.run);
}

/// Reads a list page by page.
class Pages {
 public:
  Pages(redis::SyncClient& client, const std::string& key, std::int64_t page)
      : client_(client), key_(key), page_(page) {}

  /// Adds the next items to `items`, each once; false: there are no more.
  bool next(std::vector<ItemState>& items) {
    if (at_end_) return false;
    redis::Value reply = ask();
    first_ += static_cast<std::int64_t>(reply.elements.size());
    at_end_ = static_cast<std::int64_t>(reply.elements.size()) < page_;
    for (auto& element : reply.elements) {
      const auto [place, is_new] = known_.try_emplace(element.text, items.size());
      if (is_new) {
        items.emplace_back().item = std::move(element.text);
      } else if (place->second < items.size() && items[place->second].item == place->first) {
        ++items[place->second].copies;
      }
    }
    return true;
  }

 private:
  redis::Value ask() {
    while (true) {
      const std::string last = std::to_string(first_ + page_ - 1);
      try {
        return client_.call({"LRANGE", key_, std::to_string(first_), last});
      } catch (const redis::RedisError& error) {
        if (error.code() != redis::ErrorCode::none || page_ == 1 || !client_.reconnect()) throw;
        page_ = std::max<std::int64_t>(1, page_ / shorter);
      }
    }
  }

  redis::SyncClient& client_;
  const std::string& key_;
  std::int64_t page_;
  std::int64_t first_ = 0;
  bool at_end_ = false;
  std::unordered_map<std::string, std::size_t> known_;  ///< where each stands in `items`
};

/// What the index of quarantines says of it: it is not claimed, whatever its lock says.
void read_note(ItemState& item, const std::string& text) {
  const source::QuarantineNote note = source::read_note(text);
  item.by = note.who;
  item.parked = std::string_view(item.state) == "running";
  if (item.parked) return;
  item.state = "quarantined";
  item.run = note.run;
  item.why = note.why;
  if (note.time.count() > 0) item.since = note.time;
}

/// The commands that look at a batch of items in one step, and what they borrow from.
class Look {
 public:
  Look(const source::CircularKeys& keys, std::vector<ItemState>& items, std::size_t first)
      : items_(items), first_(first), end_(std::min(items.size(), first + batch)) {
    locks_.reserve(end_ - first_);
    for (std::size_t i = first_; i < end_; ++i) locks_.push_back(keys.lock(items[i].item));
    commands_.push_back({"MULTI"});
    redis::Command& values = commands_.emplace_back(redis::Command{"MGET"});
    values.insert(values.end(), locks_.begin(), locks_.end());
    for (const auto& lock : locks_) commands_.push_back({"PTTL", lock});
    redis::Command& failures = commands_.emplace_back(redis::Command{"HMGET", keys.failures});
    for (std::size_t i = first_; i < end_; ++i) failures.emplace_back(items[i].item);
    redis::Command notes = failures;
    notes[1] = keys.quarantined;
    commands_.push_back(std::move(notes));
    commands_.push_back({"EXEC"});
  }

  [[nodiscard]] const std::vector<redis::Command>& commands() const { return commands_; }
  void take(const redis::Value& executed) const {
    const std::size_t count = end_ - first_;
    if (executed.is_error()) throw redis::RedisError(executed.text);
    if (executed.elements.size() != count + 3) return;
    const auto& values = executed.elements.front().elements;
    const auto& failures = executed.elements[count + 1].elements;
    const auto& notes = executed.elements[count + 2].elements;
    for (std::size_t i = 0; i < count; ++i) {
      ItemState& item = items_[first_ + i];
      if (i < failures.size()) item.failures = failures[i].number;
      const std::int64_t left = executed.elements[i + 1].number;
      if (left >= 0) item.left = std::chrono::milliseconds(left);
      if (left != -2) {  // there is a lock
        if (i < values.size()) item.lock = values[i].text;
        read_lock(item);
      }
      if (i < notes.size() && !notes[i].is_nil()) read_note(item, notes[i].text);
    }
  }

 private:
  std::vector<ItemState>& items_;
  std::size_t first_;
  std::size_t end_;
  std::vector<std::string> locks_;
  std::vector<redis::Command> commands_;
};

void look_at(redis::SyncClient& client, const source::CircularKeys& keys,
             std::vector<ItemState>& items) {
  for (std::size_t first = 0; first < items.size();) {
    std::vector<Look> looks;
    std::vector<redis::Command> commands;
    for (; looks.size() < batches && first < items.size(); first += batch)
      looks.emplace_back(keys, items, first);
    for (const auto& look : looks)
      commands.insert(commands.end(), look.commands().begin(), look.commands().end());
    const std::vector<redis::Value> replies = client.pipeline(commands);
    std::size_t at = 0;
    for (const auto& look : looks) {
      at += look.commands().size();
      if (at <= replies.size()) look.take(replies[at - 1]);
    }
  }
}

}  // namespace

std::optional<std::int64_t> ItemState::pid_number() const {
  std::int64_t number = 0;
  const char* end = pid.data() + pid.size();
  const auto [at, error] = std::from_chars(pid.data(), end, number);
  return error == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

void read_lock(ItemState& item) {
  std::string_view value = item.lock;
  item.state = "running";  // whoever wrote something else there, it is not free
  if (take_prefix(value, source::run_prefix)) {
    read_holder(item, value);
  } else if (take_prefix(value, "rest:")) {
    item.state = "resting";
    item.why = value;
  } else if (take_prefix(value, source::quarantine_prefix)) {
    item.state = "quarantined";
    if (time_of_run(std::string(value))) {
      item.run = value;
    } else {
      item.why = value;
    }
  }
}

Items read_items(redis::SyncClient& client, const source::CircularKeys& keys,
                 const std::string& state, std::size_t most) {
  Items found;
  found.length = static_cast<std::size_t>(client.call({"LLEN", keys.list}).number);
  Pages pages(client, keys.list, most == 0 ? longest_page : short_page);
  const auto choose = [&](std::vector<ItemState>& items) {
    look_at(client, keys, items);
    for (const auto& item : items) ++found.states[item.state];
    std::erase_if(items, [&](const auto& item) { return !state.empty() && state != item.state; });
  };
  if (most == 0) {
    while (pages.next(found.items)) {
    }
    choose(found.items);
    return found;
  }
  std::vector<ItemState> page;
  while (found.items.size() < most && pages.next(page)) {
    choose(page);
    std::move(page.begin(), page.end(), std::back_inserter(found.items));
    page.clear();
  }
  found.whole = found.items.size() <= most && !pages.next(page);
  if (found.items.size() > most) found.items.resize(most);
  return found;
}

}  // namespace w8y::app::ctl
