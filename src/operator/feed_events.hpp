// Events of a feed, as the channels of Thoonk's contract report them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "operator/channel_watch.hpp"
#include "operator/feed_access.hpp"

namespace w8y::verbs {

/// One event. Its views are valid only during the call.
struct FeedEvent {
  const char* type;  ///< "publish", "claim", …
  std::optional<std::string_view> id;
  const char* name = nullptr;  ///< of the value, such as "item"; nullptr: none
  std::string_view value;
};

/// Adds all channels of the feed to `watch`.
void watch_feed(ChannelWatch& watch, const Reach& reach, const std::string& feed, FeedKind kind,
                const std::function<void(const FeedEvent& event)>& then);

}  // namespace w8y::verbs
