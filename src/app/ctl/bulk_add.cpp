#include "app/ctl/bulk_add.hpp"

#include <algorithm>
#include <utility>

namespace w8y::app::ctl {

namespace {

// What is pushed in one command, so that Redis is not held for long; and in one write.
constexpr std::size_t items_of_command = 1000;
constexpr std::size_t bytes_of_command = std::size_t{256} << 10;
constexpr std::size_t items_of_batch = 32 * items_of_command;
constexpr std::size_t bytes_of_batch = std::size_t{4} << 20;
/// Of a list that is read.
constexpr std::size_t page = 100'000;

redis::Value good(redis::Value&& value) {
  if (value.is_error()) throw redis::RedisError(value.text, redis::error_code(value.text));
  return std::move(value);
}

}  // namespace

BulkAdd::BulkAdd(redis::SyncClient& client, const source::CircularKeys& keys, bool again)
    : client_(client), keys_(keys), again_(again) {
  if (!again_) read_list();
}

/// All pages in one step: others turn the list meanwhile, and an item would be missed between two.
void BulkAdd::read_list() {
  const auto length = static_cast<std::size_t>(client_.call({"LLEN", keys_.list}).number);
  std::vector<std::string> bounds;
  for (std::size_t first = 0; first <= length; first += page) {
    bounds.push_back(std::to_string(first));
    bounds.push_back(std::to_string(first + page - 1));
  }
  std::vector<redis::Command> commands = {{"MULTI"}};
  for (std::size_t i = 0; i < bounds.size(); i += 2)
    commands.push_back({"LRANGE", keys_.list, bounds[i], bounds[i + 1]});
  commands.push_back({"EXEC"});
  redis::Value pages = good(std::move(client_.pipeline(commands).back()));
  known_.reserve(length);
  for (auto& items : pages.elements)
    for (auto& item : good(std::move(items)).elements) known_.insert(std::move(item.text));
}

void BulkAdd::add(Item&& item) {
  if (!again_ && !known_.insert(item).second) {
    ++skipped_;
    return;
  }
  batch_bytes_ += item.size();
  batch_.push_back(std::move(item));
  if (batch_.size() >= items_of_batch || batch_bytes_ >= bytes_of_batch) push();
}

/// One that comes anew begins anew, whatever became of it before. While it is not in the list,
/// nobody takes its lock.
void BulkAdd::forget_past() {
  std::vector<std::string> locks;
  for (const Item& item : batch_) {
    locks.push_back(keys_.lock(item));
    locks.push_back(keys_.other_lock_prefix + item);
  }
  std::vector<redis::Command> looks;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (i % items_of_command == 0) looks.push_back({"MGET"});
    looks.back().push_back(locks[i]);
  }
  std::vector<redis::Value> found = client_.pipeline(looks);
  std::vector<redis::Command> forget;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const auto& values = found[i / items_of_command].elements;
    const std::size_t at = i % items_of_command;
    if (at < values.size() && (values[at].text.starts_with("rest:") ||
                               values[at].text.starts_with(source::quarantine_prefix)))
      forget.push_back({"DEL", locks[i]});
  }
  for (const std::string* hash : {&keys_.failures, &keys_.quarantined}) {
    if (client_.call({"EXISTS", *hash}).number == 0) continue;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (i % items_of_command == 0) forget.push_back({"HDEL", *hash});
      forget.back().push_back(batch_[i]);
    }
  }
  for (auto& reply : client_.pipeline(forget)) good(std::move(reply));
}

void BulkAdd::push() {
  if (!again_) forget_past();
  std::vector<redis::Command> commands;
  std::size_t bytes = bytes_of_command;
  for (const Item& item : batch_) {
    if (bytes >= bytes_of_command || commands.back().size() >= items_of_command) {
      commands.push_back({"RPUSH", keys_.list});
      bytes = 0;
    }
    commands.back().push_back(item);
    bytes += item.size();
  }
  // Who waits for work begins with the first ones.
  if (!told_) commands.push_back({"PUBLISH", keys_.wake, "added"});
  std::vector<redis::Value> replies = client_.pipeline(commands);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    good(std::move(replies[i]));
    if (commands[i].front() == "RPUSH") added_ += commands[i].size() - 2;
  }
  told_ = true;
  batch_.clear();
  batch_bytes_ = 0;
}

void BulkAdd::finish() {
  if (!batch_.empty()) push();
  if (added_ > 0) client_.call({"PUBLISH", keys_.wake, "added"});
}

}  // namespace w8y::app::ctl
