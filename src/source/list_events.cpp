#include "source/list_events.hpp"

#include <algorithm>
#include <array>

#include "redis/client.hpp"

namespace w8y::source {

namespace {

constexpr Duration ask_pause = std::chrono::seconds(10);

/// K: by key; l: what is done to lists; A: to all kinds.
bool tells_of_lists(std::string_view flags) {
  return flags.find('K') != std::string_view::npos &&
         flags.find_first_of("lA") != std::string_view::npos;
}

}  // namespace

ListEvents::ListEvents(redis::Client& client, TimerQueue& timers, const Clock& clock, int db,
                       bool cluster)
    : client_(client),
      clock_(clock),
      channel_prefix_("__keyspace@" + std::to_string(db) + "__:"),
      cluster_(cluster),
      again_(timers),
      alive_(std::make_shared<bool>(true)) {}

ListEvents::~ListEvents() {
  *alive_ = false;
}

bool ListEvents::on() {
  if (!cluster_ && !again_.pending()) ask();
  return on_;
}

void ListEvents::ask() {
  again_.set(clock_.now() + ask_pause, [this] { ask(); });
  client_.call({"CONFIG", "GET", "notify-keyspace-events"}, [this, alive = alive_](
                                                                const redis::Answer& answer) {
    if (!*alive || answer.failure != redis::Failure::none) return;
    on_ = answer.ok() && answer.reply.size() == 2 && tells_of_lists(answer.reply[1].text());
  });
}

std::string ListEvents::channel(std::string_view key) const {
  return channel_prefix_ + std::string(key);
}

bool ListEvents::adds(std::string_view event) {
  static constexpr std::array<std::string_view, 8> adding{
      "rpush", "lpush", "linsert", "rename_to", "copy_to", "move_to", "restore", "sortstore"};
  return std::find(adding.begin(), adding.end(), event) != adding.end();
}

}  // namespace w8y::source
