// What happens in a feed, as the contract's channels tell it.
#include <iostream>
#include <string_view>

#include "core/escape.hpp"
#include "ctl/commands.hpp"
#include "ctl/feed_common.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "ctl/watching.hpp"
#include "store/thoonk/directory.hpp"

namespace w8y::ctl {

namespace {

/// A message: an id, and what stands behind the first NUL byte.
struct Event {
  const char* type;
  std::string_view id;
  const char* name = nullptr;  ///< of what follows: "item"; nullptr: nothing does
  std::string_view rest;
};

Event event_of(const char* type, const char* name, std::string_view payload) {
  const auto end = payload.find(store::part_separator);
  if (end == std::string_view::npos) return {type, payload, nullptr, {}};
  return {type, payload.substr(0, end), name, payload.substr(end + 1)};
}

void show(const Event& event, const std::string& feed, bool json) {
  if (!json) {
    std::cout << time_text(wall_now()) << "  " << event.type;
    if (event.id.data() != nullptr) std::cout << "  " << escape_text(event.id);
    if (event.name != nullptr) std::cout << "  " << escape(event.rest);
    std::cout << '\n';
    return;
  }
  core::AsciiObject one;
  one.put("type", event.type);
  one.put("time_ms", wall_now().count());
  one.put_bytes("feed", feed);
  if (event.id.data() != nullptr) one.put_bytes("id", event.id);
  if (event.name != nullptr) one.put_bytes(event.name, event.rest);
  print_json(one.take());
}

struct Channel {
  std::string name;
  const char* type;
  const char* rest;  ///< what its messages have beside the id
};

/// The contract's, and those that its client in Python has besides.
std::vector<Channel> channels_of(const store::FeedKeys& keys) {
  return {{keys.publish_channel, "publish", "item"},
          {keys.edit_channel, "edit", "item"},
          {keys.retract_channel, "retract", ""},
          {keys.position_channel, "position", "position"},
          {keys.finish_channel, "finish", "result"},
          {keys.publishes, "put", "item"},
          {keys.claimed, "claim", ""}};
}

class FeedWatch final : public FeedCommand {
 public:
  explicit FeedWatch(store::FeedKind kind) : kind_(kind) {}

 private:
  void declare_more(Words& words) override { declare_limit(words, "End after N events", limit_); }

  int work(const Options& options, Context& context) override {
    store::FeedAccess(server(context), feed_, kind_).check();
    redis::Subscriber subscriber(context.loop(), context.redis_options());
    Watching watching(context.loop(), subscriber, limit_);
    const auto tell = [&](const Event& event) {
      if (!watching.wanted()) return;
      show(event, feed_, options.json);
      watching.seen();
    };
    std::vector<redis::Subscription> subscriptions;
    const auto listen = [&](const std::string& channel, auto make) {
      subscriptions.push_back(subscriber.subscribe(
          channel,
          [&tell, make](std::string_view, std::string_view payload) { make(payload, tell); }));
    };
    for (const Channel& channel : channels_of(store::FeedKeys(feed_)))
      listen(channel.name, [channel](std::string_view payload, const auto& then) {
        then(event_of(channel.type, channel.rest, payload));
      });
    for (const auto& [channel, type] :
         {std::pair{store::newfeed_channel, "create"}, std::pair{store::conffeed_channel, "config"},
          std::pair{store::delfeed_channel, "delete"}})
      listen(channel, [this, type = type](std::string_view payload, const auto& then) {
        if (is_ours(payload)) then(Event{type, {}, nullptr, {}});
      });
    if (kind_ == store::FeedKind::queue)
      listen(list_events(context), [](std::string_view payload, const auto& then) {
        if (const char* type = type_of(payload)) then(Event{type, {}, nullptr, {}});
      });
    watching.run();
    return done;
  }

  /// "feed NUL who"; the name may have a NUL itself, and who is none.
  [[nodiscard]] bool is_ours(std::string_view payload) const {
    return payload.substr(0, payload.rfind(store::part_separator)) == feed_;
  }

  // What enters and leaves queues is not published: Redis may tell of it.
  [[nodiscard]] std::string list_events(Context& context) const {
    return "__keyspace@" + std::to_string(context.redis_options().url.db) +
           "__:" + store::FeedKeys(feed_).ids;
  }
  static const char* type_of(std::string_view event) {
    if (event == "lpush") return "put";
    if (event == "rpush") return "put-high";
    return event == "rpop" ? "get" : nullptr;
  }

  store::FeedKind kind_;
  std::size_t limit_ = 0;  ///< 0: none
};

}  // namespace

CommandPtr make_feed_watch(store::FeedKind kind) {
  return std::make_unique<FeedWatch>(kind);
}

}  // namespace w8y::ctl
