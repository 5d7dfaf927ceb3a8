// Helpers for tests with items that are long enough to block a host.
#pragma once

#include <doctest/doctest.h>

#include "store/circular/item_changes.hpp"
#include "store/host.hpp"

namespace w8y::test {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Counts the connections that a session has lost.
class Drops final : private redis::Client::Listener {
 public:
  explicit Drops(store::RedisSession& session) : redis::Client::Listener(session.client) {}
  int count = 0;
  std::string why;

 private:
  void on_up() override {}
  void on_down(const std::string& reason) override {
    ++count;
    why = reason;
  }
};

/// Pushes the items "1:xxx…", "2:xxx…" and so on. A script on the server makes them.
inline void fill(const RedisServer& server, int items, std::size_t bytes,
                 const std::string& of = "x") {
  server.command({"EVAL",
                  "for i = 1, tonumber(ARGV[1]) do redis.call('RPUSH', KEYS[1], "
                  "i .. ':' .. string.rep(ARGV[3], tonumber(ARGV[2]))) end",
                  "1", "work:list", std::to_string(items), std::to_string(bytes), of});
}

inline std::string number_of(const Item& item) {
  return item.substr(0, item.find(':'));
}

/// Claims until `wanted` items are held, or a claim returns none. On a busy machine, a reply can
/// arrive too late. The list hands its items back, and this function claims them again.
inline std::size_t claim_all(Host& host, std::size_t wanted) {
  int too_late = 0;
  while (host.reported.claims.size() < wanted) {
    const ClaimReply reply = host.claim(wanted - host.reported.claims.size());
    std::size_t bytes = 0;
    for (const Claim& claim : reply.claims) bytes += claim.item.size();
    CHECK(bytes <= store::ScriptLocks::most_bytes_looked_at + max_item);
    if (reply.end == ClaimEnd::unavailable && ++too_late <= 10) continue;
    if (reply.claims.empty()) break;
  }
  return host.reported.claims.size();
}

inline ListConfig long_rule() {
  ListConfig rule = list_rule();
  rule.key_expiry = 60s;
  return rule;
}

/// Opens a session whose commands time out after 1 s.
inline std::shared_ptr<store::RedisSession> impatient_link(loop::Loop& loop,
                                                           const std::string& url) {
  redis::ClientOptions options;
  options.url = redis::parse_url(url);
  options.command_timeout = 1s;
  return std::make_shared<store::RedisSession>(loop, options,
                                               store::RedisSession::Holder{"here", 77, 5});
}

}  // namespace w8y::test
