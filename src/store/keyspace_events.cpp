#include "store/keyspace_events.hpp"

#include <algorithm>
#include <array>

#include "redis/client.hpp"

namespace w8y::store {

KeyspaceEvents::KeyspaceEvents(redis::Client& client, redis::Subscriber& subscriber,
                               TimerQueue& timers, const Clock& clock, int db, bool cluster,
                               Duration pause)
    : client_(client),
      subscriber_(subscriber),
      clock_(clock),
      channel_prefix_("__keyspace@" + std::to_string(db) + "__:"),
      cluster_(cluster),
      pause_(pause),
      again_(timers) {}

KeyspaceEvents::~KeyspaceEvents() = default;

bool KeyspaceEvents::on(std::string_view key_prefix) {
  if (!cluster_ && probe_.empty()) {
    probe_ = std::string(key_prefix) + "probe";
    try_out();
  }
  return on_;
}

void KeyspaceEvents::try_out() {
  subscription_ = subscriber_.subscribe(
      channel(probe_),
      [this](std::string_view, std::string_view event) {
        if (event == "rpush") on_ = heard_ = true;
      },
      [this] { write(); });
}

/// Writes the probe key and deletes it at once.
void KeyspaceEvents::write() {
  heard_ = false;
  client_.call({"RPUSH", probe_, "x"});
  client_.call({"DEL", probe_});
  again_.set(clock_.now() + pause_, [this] {
    on_ = heard_;
    write();
  });
}

std::string KeyspaceEvents::channel(std::string_view key) const {
  return channel_prefix_ + std::string(key);
}

bool KeyspaceEvents::adds(std::string_view event) {
  static constexpr std::array<std::string_view, 8> adding{
      "rpush", "lpush", "linsert", "rename_to", "copy_to", "move_to", "restore", "sortstore"};
  return std::find(adding.begin(), adding.end(), event) != adding.end();
}

bool KeyspaceEvents::adds_scored(std::string_view event) {
  static constexpr std::array<std::string_view, 10> adding{
      "zadd",        "zincr",     "zunionstore", "zinterstore", "zdiffstore",
      "zrangestore", "rename_to", "copy_to",     "move_to",     "restore"};
  return std::find(adding.begin(), adding.end(), event) != adding.end();
}

}  // namespace w8y::store
