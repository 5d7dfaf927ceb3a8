// Feeds, queues and jobs on a real server as the commands about them change them, and what is heard
// of it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/url.hpp"
#include "store/thoonk/directory.hpp"
#include "store/thoonk/feed.hpp"
#include "store/thoonk/job_feed.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

inline redis::ClientOptions feed_options(const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  return options;
}

using Words = std::vector<std::string>;

struct FeedPlace {
  FeedPlace() : client(loop, feed_options(server.url())), feeds(at()) {}

  store::FeedServer at() { return {client, false}; }
  std::string ask(const Words& words) const { return server.ask(words); }
  double score(const std::string& key, const std::string& id) const {
    return std::stod(ask({"ZSCORE", key, id}));
  }
  Words ids_of(store::FeedAccess& feed) const {
    Words all;
    feed.ids([&all](std::string&& id) { all.push_back(std::move(id)); });
    return all;
  }
  std::string publish(const std::string& feed, const std::string& id, const std::string& item) {
    store::Feed(at(), feed).publish({{id, item}});
    return id;
  }
  /// What all keys hold, but for the times in them.
  std::string keys() const {
    Words all;
    const std::string text = ask({"KEYS", "*"});
    for (std::size_t first = 0; first <= text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size());
      if (end > first) all.push_back(text.substr(first, end - first));
      first = end + 1;
    }
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const auto& key : all) joined += (joined.empty() ? "" : " ") + key;
    return joined;
  }

  RedisServer server;
  loop::Loop loop;
  redis::SyncClient client;
  store::FeedDirectory feeds;
};

/// All messages from now on, as "channel payload", with '|' for NUL.
class FeedNews {
 public:
  explicit FeedNews(FeedPlace& at) : at_(at), subscriber_(at.loop, feed_options(at.server.url())) {
    bool ready = false;
    all_ = subscriber_.psubscribe(
        "*",
        [this](std::string_view channel, std::string_view text) {
          if (channel.ends_with(":wake")) return;  // ours, a hint
          std::string line = std::string(channel) + " " + std::string(text);
          std::replace(line.begin(), line.end(), '\0', '|');
          lines_.push_back(std::move(line));
        },
        [&ready] { ready = true; });
    CHECK(turn_until(at.loop, [&] { return ready; }));
  }
  /// What came since the last time.
  Words lines() {
    at_.ask({"PUBLISH", "test", "end"});
    CHECK(turn_until(at_.loop, [this] { return !lines_.empty() && lines_.back() == "test end"; }));
    lines_.pop_back();
    return std::exchange(lines_, {});
  }

 private:
  FeedPlace& at_;
  redis::Subscriber subscriber_;
  redis::Subscription all_;
  Words lines_;
};

template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace w8y::test
