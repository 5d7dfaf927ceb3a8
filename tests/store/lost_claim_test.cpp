// In-doubt claims: Redis has executed them, but the replies did not arrive.
#include <doctest/doctest.h>

#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace lost_claim_test {
namespace {

/// Host whose commands time out after 400 ms and whose locks live for 60 s.
struct LosingHost {
  explicit LosingHost(RedisServer& redis, loop::Loop& on)
      : server(redis), loop(on), session(open()), source(session, told) {
    ListConfig settings = list_rule();
    settings.key_expiry = 60s;
    settings.fleet_concurrency = 10;
    source.use(std::make_shared<const ListConfig>(settings));
    turn_until(loop, [&] { return session->client.connected(); });
  }

  std::shared_ptr<store::RedisSession> open() const {
    redis::ClientOptions options;
    options.url = redis::parse_url(server.url());
    options.connect_timeout = options.command_timeout = 400ms;
    return std::make_shared<store::RedisSession>(loop, options,
                                                 store::RedisSession::Holder{"here", 77, 5});
  }

  ClaimReply claim(std::size_t wanted) {
    const std::size_t before = told.replies.size();
    source.claim(wanted, store::Scan::whole, store::Manner::in_turn);
    turn_until(loop, [&] { return told.replies.size() > before; });
    return told.replies.empty() ? ClaimReply{} : told.replies.back();
  }

  [[nodiscard]] std::size_t in_doubt() const { return session->in_doubt_claims.size(); }

  /// Sends a claim that the server executes after the command has timed out.
  void lose_a_claim(std::size_t wanted) {
    server.pause();
    const ClaimReply reply = claim(wanted);
    CHECK(reply.end == ClaimEnd::unavailable);
    CHECK(reply.claims.empty());
    CHECK(in_doubt() == 1);
    CHECK(source.unsettled() == 0);  // nothing waits for the undo
    server.resume();
  }

  RedisServer& server;
  loop::Loop& loop;
  Told told;
  std::shared_ptr<store::RedisSession> session;
  store::RedisCircularList source;
};

}  // namespace

TEST_CASE("the locks of an in-doubt claim are found and released at once") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  server.command({"SET", "work:lock:c", "run:other:1:x"});
  loop::Loop loop;
  LosingHost host(server, loop);
  host.lose_a_claim(2);
  CHECK(turn_until(loop, [&] { return host.in_doubt() == 0; }));
  CHECK(locks(server) == 1);
  CHECK(server.command({"GET", "work:lock:c"}) == "run:other:1:x");
  CHECK(server.command({"ZCARD", "work:slots"}) == "0");
  CHECK(host.claim(3).claims.size() == 2);
}

TEST_CASE("locks of an in-doubt claim are found behind items that others have rotated since") {
  RedisServer server;
  for (int i = 0; i < 700; ++i) server.command({"RPUSH", "work:list", "i" + std::to_string(i)});
  loop::Loop loop;
  LosingHost host(server, loop);
  host.lose_a_claim(3);
  for (int i = 0; i < 600; ++i)
    server.command({"LMOVE", "work:list", "work:list", "LEFT", "RIGHT"});
  CHECK(locks(server) == 3);
  CHECK(turn_until(loop, [&] { return locks(server) == 0; }));
}

TEST_CASE("an in-doubt claim that was not executed costs one call") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  LosingHost host(server, loop);
  server.pause();
  host.source.claim(1, store::Scan::whole, store::Manner::in_turn);
  turn_until(loop, [&] { return !host.told.replies.empty(); });
  server.kill();
  server.start();
  server.command({"RPUSH", "work:list", "a"});
  CHECK(turn_until(loop, [&] { return host.in_doubt() == 0; }));
  CHECK(host.claim(1).claims.size() == 1);
}

TEST_CASE("locks of an in-doubt claim that have expired are not searched for") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  LosingHost host(server, loop);
  ListConfig settings = list_rule();
  settings.key_expiry = 1s;
  host.source.use(std::make_shared<const ListConfig>(settings));
  server.pause();
  host.claim(1);
  CHECK(host.in_doubt() == 1);
  const Instant expired = loop.clock().now() + 1s;
  turn_until(loop, [&] { return loop.clock().now() > expired; });
  server.resume();
  CHECK(turn_until(loop, [&] { return host.in_doubt() == 0; }));
  CHECK(turn_until(loop, [&] { return locks(server) == 0; }));  // by itself
  CHECK(server.command({"INFO", "commandstats"}).find("getrange") == std::string::npos);
}

}  // namespace lost_claim_test
