// Feeds, queues and jobs on a real server, changed as the subcommands of w8yctl change them, and
// the messages that this publishes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "operator/feed_directory.hpp"
#include "operator/feeds.hpp"
#include "operator/job_feeds.hpp"
#include "redis/sync.hpp"
#include "support/client_options.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

namespace w8y::test {

using Words = std::vector<std::string>;

struct FeedFixture {
  FeedFixture() : client(loop, options_for(server.url())), feeds(at()) {}

  verbs::FeedServer at() { return {client, false}; }
  std::string command(const Words& words) const { return server.command(words); }
  double score(const std::string& key, const std::string& id) const {
    return std::stod(command({"ZSCORE", key, id}));
  }
  Words ids_of(verbs::FeedAccess& feed) const {
    Words all;
    feed.ids([&all](std::string&& id) { all.push_back(std::move(id)); });
    return all;
  }
  std::string publish(const std::string& feed, const std::string& id, const std::string& item) {
    verbs::Feed(at(), feed).publish({{id, item}});
    return id;
  }
  /// Returns the names of all keys, sorted and separated by spaces.
  std::string keys() const {
    Words all;
    const std::string text = command({"KEYS", "*"});
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
  verbs::FeedDirectory feeds;
};

/// All messages that are published from now on, as "channel payload", with '|' for NUL.
class FeedMessages {
 public:
  explicit FeedMessages(FeedFixture& at) : at_(at), messages_(at.server) {}
  /// Returns the messages since the last call.
  Words lines() {
    at_.command({"PUBLISH", "test", "end"});
    Words lines;
    for (auto message = messages_.next(); message.first != "test"; message = messages_.next()) {
      auto& [channel, text] = message;
      std::replace(text.begin(), text.end(), '\0', '|');
      if (!channel.ends_with(":wake")) lines.push_back(channel + " " + text);  // a wake-up of w8y
    }
    return lines;
  }

 private:
  FeedFixture& at_;
  PublishedMessages messages_;
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
