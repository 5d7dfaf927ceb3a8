#include "app/ctl/item_states.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

/// Items per call. Others rotate the list meanwhile, so a page is as long as one call may be.
constexpr std::int64_t page = 100'000;
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

std::vector<ItemState> read_list(redis::SyncClient& client, const std::string& key) {
  std::vector<ItemState> items;
  std::unordered_map<std::string, std::size_t> known;
  for (std::int64_t first = 0;; first += page) {
    redis::Value reply =
        client.call({"LRANGE", key, std::to_string(first), std::to_string(first + page - 1)});
    for (auto& element : reply.elements) {
      const auto [place, is_new] = known.try_emplace(element.text, items.size());
      if (is_new) {
        items.emplace_back().item = std::move(element.text);
      } else {
        ++items[place->second].copies;
      }
    }
    if (reply.elements.size() < page) return items;
  }
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
    commands_.push_back({"EXEC"});
  }

  [[nodiscard]] const std::vector<redis::Command>& commands() const { return commands_; }
  void take(const redis::Value& executed) const {
    const std::size_t count = end_ - first_;
    if (executed.is_error()) throw redis::RedisError(executed.text);
    if (executed.elements.size() != count + 2) return;
    const auto& values = executed.elements.front().elements;
    const auto& failures = executed.elements.back().elements;
    for (std::size_t i = 0; i < count; ++i) {
      ItemState& item = items_[first_ + i];
      if (i < failures.size()) item.failures = failures[i].number;
      const std::int64_t left = executed.elements[i + 1].number;
      if (left == -2) continue;  // there is no lock
      if (left >= 0) item.left = std::chrono::milliseconds(left);
      if (i < values.size()) item.lock = values[i].text;
      read_lock(item);
    }
  }

 private:
  std::vector<ItemState>& items_;
  std::size_t first_;
  std::size_t end_;
  std::vector<std::string> locks_;
  std::vector<redis::Command> commands_;
};

}  // namespace

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

std::vector<ItemState> read_items(redis::SyncClient& client, const source::CircularKeys& keys) {
  std::vector<ItemState> items = read_list(client, keys.list);
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
  return items;
}

}  // namespace w8y::app::ctl
