#include "operator/feed_events.hpp"

#include <utility>

namespace w8y::verbs {

namespace {

/// A message: an ID, and the value after the first NUL byte.
FeedEvent event_of(const char* type, const char* name, std::string_view payload) {
  const auto end = payload.find(store::part_separator);
  if (end == std::string_view::npos) return {type, payload, nullptr, {}};
  return {type, payload.substr(0, end), name, payload.substr(end + 1)};
}

struct Channel {
  std::string name;
  const char* type;
  const char* value;  ///< name of the value
};

/// Returns the channels of the contract, and those that only its Python client uses.
std::vector<Channel> channels_of(const FeedKeys& keys) {
  return {{keys.publish_channel, "publish", "item"},
          {keys.edit_channel, "edit", "item"},
          {keys.retract_channel, "retract", ""},
          {keys.position_channel, "position", "position"},
          {keys.finish_channel, "finish", "result"},
          {keys.publishes, "put", "item"},
          {keys.claimed, "claim", ""}};
}

/// Returns the event of a keyspace notification about the list of a queue; nullptr: none.
const char* queue_event(std::string_view command) {
  if (command == "lpush") return "put";
  if (command == "rpush") return "put-high";
  return command == "rpop" ? "get" : nullptr;
}

}  // namespace

void watch_feed(ChannelWatch& watch, const Reach& reach, const std::string& feed, FeedKind kind,
                const std::function<void(const FeedEvent& event)>& then) {
  const FeedKeys keys(feed);
  for (const Channel& channel : channels_of(keys))
    watch.add(channel.name, [then, channel](std::string_view payload) {
      then(event_of(channel.type, channel.value, payload));
    });
  for (const auto& [channel, type] :
       {std::pair{store::newfeed_channel, "create"}, std::pair{store::conffeed_channel, "config"},
        std::pair{store::delfeed_channel, "delete"}})
    // "feed NUL instance"; the name may contain a NUL, the instance does not.
    watch.add(channel, [then, feed, type = type](std::string_view payload) {
      if (payload.substr(0, payload.rfind(store::part_separator)) == feed)
        then({type, std::nullopt, nullptr, {}});
    });
  if (kind != FeedKind::queue) return;
  // Additions to queues and removals are not published. Redis sends keyspace notifications about
  // them if it is configured to.
  watch.add("__keyspace@" + std::to_string(reach.url.db) + "__:" + keys.ids,
            [then](std::string_view payload) {
              if (const char* type = queue_event(payload)) then({type, std::nullopt, nullptr, {}});
            });
}

}  // namespace w8y::verbs
