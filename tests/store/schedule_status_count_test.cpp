// Jobs with status BAD or DIE, counted in parts.
#include <doctest/doctest.h>

#include "loop/loop.hpp"
#include "redis/server_client.hpp"
#include "redis/sync.hpp"
#include "redis/url.hpp"
#include "store/schedule/status_count.hpp"
#include "store/scripts.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;

namespace schedule_status_count_test {
namespace {

struct Fixture {
  Fixture() : client(loop, options()) {}

  redis::ClientOptions options() const {
    redis::ClientOptions found;
    found.url = redis::parse_url(server.url());
    return found;
  }
  /// Makes one call. Returns its error, or an empty string.
  std::string part() {
    bool answered = false;
    std::string error;
    client.run(scripts::schedule_count, {"bike-statuses"},
               {count.cursor(), StatusCount::jobs_per_call}, [&](const redis::Answer& answer) {
                 answered = true;
                 error = answer.problem();
                 if (answer.ok()) examined += count.add(answer.reply);
               });
    CHECK(turn_until(loop, [&] { return answered; }));
    return error;
  }
  /// Completes a scan. Returns the number of calls.
  std::size_t scan() {
    examined = 0;
    std::size_t calls = 0;
    do {
      ++calls;
      CHECK(part() == "");
    } while (!count.is_between_scans() && calls < 1000);
    return calls;
  }
  void set(const std::string& job, const std::string& status) {
    server.command({"HSET", "bike-statuses", job, status});
  }
  /// Sets the status of the jobs "1" to "<last>".
  void fill(int last, const std::string& status) {
    server.command({"EVAL", "for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], i, ARGV[2]) end",
                    "1", "bike-statuses", std::to_string(last), status});
  }

  RedisServer server;
  loop::Loop loop;
  redis::ServerClient client;
  StatusCount count;
  std::size_t examined = 0;
};

}  // namespace

TEST_CASE("jobs with status BAD or DIE are counted, including jobs of Redbike, and no others") {
  Fixture at;
  CHECK(!at.count.is_known());
  CHECK(at.scan() == 1);
  CHECK(at.count.is_known());
  CHECK(at.count.counts().bad == 0);
  at.set("a:A", "BAD:1763730000");
  at.set("b:A", "DIE:1763730000");
  at.set("c:A", "BAD:5");
  for (const char* other : {"TML:1", "STP:1", "ENQ:1", "WRK:1", "BADLY:1", "", "BAD", "xDIE:1"})
    at.set(std::string("other") + other, other);
  CHECK(at.scan() == 1);
  CHECK(at.examined == 11);
  CHECK(at.count.counts().bad == 2);
  CHECK(at.count.counts().died == 1);
  at.set("a:A", "TML:1763730000");
  at.server.command({"HDEL", "bike-statuses", "b:A"});
  at.scan();
  CHECK(at.count.counts().bad == 1);
  CHECK(at.count.counts().died == 0);
}

TEST_CASE("a scan reads many jobs in parts and keeps the last complete count meanwhile") {
  Fixture at;
  at.fill(5000, "BAD:1");
  CHECK(at.part() == "");
  CHECK(!at.count.is_known());
  CHECK(at.examined < 1000);
  CHECK(at.count.counts().bad == at.examined);
  while (!at.count.is_between_scans()) REQUIRE(at.part() == "");
  CHECK(at.count.is_known());
  CHECK(at.count.counts().bad == 5000);
  at.fill(5000, "DIE:1");
  CHECK(at.part() == "");
  CHECK(!at.count.is_between_scans());
  CHECK(at.count.counts().bad == 5000);
  CHECK(at.count.counts().died > 0);  // new jobs count before the scan is complete
  while (!at.count.is_between_scans()) REQUIRE(at.part() == "");
  CHECK(at.count.counts().bad == 0);
  CHECK(at.count.counts().died == 5000);
}

TEST_CASE("jobs in the queues of other lists do not count") {
  Fixture at;
  for (const char* job : {"a:A", "b:B", "c:C", "d"}) at.set(job, "DIE:1");
  const auto counts = [&](redis::Command codes) {
    redis::SyncClient client(at.loop, at.options());
    redis::Command args{"0", "250"};
    args.insert(args.end(), codes.begin(), codes.end());
    const redis::ReplyCopy reply = client.run(scripts::schedule_count, {"bike-statuses"}, args);
    REQUIRE(reply.elements.size() == 5);
    CHECK(reply.elements[1].number == 4);
    CHECK(reply.elements[3].number == reply.elements[4].number);
    return reply.elements[4].number;
  };
  CHECK(counts({}) == 4);
  CHECK(counts({"B", "C"}) == 2);
}

TEST_CASE("each due job counts for one of the lists with its key prefix") {
  Fixture at;
  redis::SyncClient client(at.loop, at.options());
  for (const char* job : {"a:A", "b:B", "c:B", "x:X", "d"})
    at.server.command({"ZADD", "bike-timeline", "100", job});
  at.server.command({"ZADD", "bike-timeline", "101", "later:A"});
  using Counts = std::vector<std::int64_t>;
  const auto due = [&](const redis::Command& args) {
    Counts found;
    for (const auto& each : client.run(scripts::schedule_due, {"bike-timeline"}, args).elements)
      found.push_back(each.number);
    return found;
  };
  CHECK(due({"100", "1000", "only", "B"}) == Counts{5, 5, 2});
  // The list that dispatches also counts jobs that no list has.
  CHECK(due({"100", "1000", "without", "B"}) == Counts{5, 5, 3});
  CHECK(due({"99", "1000", "only", "A"}) == Counts{0, 0, 0});
  const Counts some = due({"101", "3", "only", "A"});
  CHECK(some[0] == 6);
  CHECK(some[1] == 3);
}

TEST_CASE("a status key of a wrong type is an error and does not affect later counts") {
  Fixture at;
  at.server.command({"SET", "bike-statuses", "x"});
  CHECK(at.part().find("WRONGTYPE") != std::string::npos);
  CHECK(!at.count.is_known());
  at.server.command({"DEL", "bike-statuses"});
  at.set("a:A", "BAD:1");
  CHECK(at.scan() == 1);
  CHECK(at.count.counts().bad == 1);
}

}  // namespace schedule_status_count_test
