// Histories of failed runs, and the runs that are kept while a quarantine or stall lasts.
#include <doctest/doctest.h>

#include <optional>

#include "store/host.hpp"
#include "store/run_record.hpp"

using namespace w8y;
using namespace w8y::test;

namespace {

struct FailedHistory {
  FailedHistory() {
    rule.failed_history.runs = 1000;
    server.command({"RPUSH", "work:list", "a"});
  }
  /// Runs the next item, and settles the run.
  std::string run_once(Outcome outcome, store::Rest rest = store::SetFree{}) {
    if (!host) host.emplace(loop, server.url(), rule);
    const Claim claim = host->claim(1).claims.at(0);
    host->settle(claim, rest, store::FailureCount::keep, std::move(outcome));
    CHECK(host->settled());
    return std::string(std::string_view(claim.run));
  }
  std::string number_of(const char* key) { return server.command({"LLEN", key}); }

  RedisServer server;
  loop::Loop loop;
  ListConfig rule = list_rule();
  std::optional<Host> host;
};

}  // namespace

TEST_CASE("a failed run stays in its own history while successful runs are deleted") {
  FailedHistory work;
  work.rule.history.runs = 3;
  work.rule.failed_history.runs = 2;
  const std::string failed = work.run_once(Failed{"no"});
  work.run_once(Cancelled{true});
  for (int i = 0; i < 10; ++i) work.run_once(Succeeded{});
  CHECK(work.number_of("work:runs") == "3");
  const std::string records = work.server.command({"LRANGE", "work:failed-runs", "0", "-1"});
  CHECK(records.find(failed) != std::string::npos);
  CHECK(records.find("\"outcome\":\"cancelled\"") != std::string::npos);
  CHECK(records.find("\"stderr\":\"tail\"") != std::string::npos);
  CHECK(work.number_of("work:failed-runs") == "2");

  work.run_once(Failed{"again"});
  CHECK(work.number_of("work:failed-runs") == "2");
  CHECK(work.server.command({"LRANGE", "work:failed-runs", "0", "-1"}).find(failed) ==
        std::string::npos);
}

TEST_CASE("failed_for limits the age of the records of failed runs") {
  FailedHistory work;
  work.rule.failed_history.age = 60s;
  for (const char* time : {"1", "2", "9999999999999"})
    work.server.command({"LPUSH", "work:failed-runs",
                         R"({"entered_ms":)" + std::string(time) + R"(,"run":"OLD"})"});
  work.run_once(Succeeded{});
  CHECK(work.number_of("work:failed-runs") == "3");
  work.run_once(Failed{"no"});
  CHECK(work.number_of("work:failed-runs") == "2");
  const int life = std::stoi(work.server.command({"PTTL", "work:failed-runs"}));
  CHECK(life > 50'000);
  CHECK(life <= 60'000);
}

TEST_CASE("the history of failed runs has a limit of bytes, and each record has its time") {
  FailedHistory work;
  work.rule.failed_history.runs = 100;
  work.rule.failed_history.bytes = 200'000;
  for (int i = 0; i < 20; ++i) work.run_once(Failed{"no"});
  CHECK(work.server.command({"EXISTS", "work:failed-sizes"}) == "0");
  work.run_once(Failed{std::string(150'000, 'x')});
  CHECK(work.number_of("work:failed-runs") == "21");
  CHECK(work.server.command({"EXISTS", "work:failed-sizes"}) == "1");
  CHECK(std::stoi(work.server.command({"PTTL", "work:failed-sizes"})) > 0);
  work.run_once(Failed{std::string(150'000, 'x')});
  CHECK(work.number_of("work:failed-runs") == "1");

  work.server.command({"DEL", "work:failed-runs", "work:failed-sizes", "work:list"});
  work.server.command({"RPUSH", "work:list", "a", "b", "c"});
  std::vector<Claim> claims = work.host->claim(3).claims;
  REQUIRE(claims.size() == 3);
  for (const Claim& claim : claims)
    work.host->settle(claim, store::SetFree{}, store::FailureCount::keep, Failed{"no"});
  CHECK(work.host->settled());
  const std::string records = work.server.command({"LRANGE", "work:failed-runs", "0", "-1"});
  std::size_t times = 0;
  for (auto at = records.find("{\"entered_ms\":"); at != std::string::npos;
       at = records.find("{\"entered_ms\":", at + 1))
    ++times;
  CHECK(times == 3);
}

TEST_CASE("with failed_history = 0, failed runs are in the history of all runs") {
  FailedHistory work;
  work.rule.failed_history.runs = 0;
  work.run_once(Failed{"no"});
  work.run_once(Succeeded{});
  CHECK(work.number_of("work:runs") == "2");
  CHECK(work.server.command({"EXISTS", "work:failed-runs"}) == "0");
}

TEST_CASE("the run that caused a quarantine is kept until the quarantine ends") {
  FailedHistory work;
  work.rule.failed_history.runs = 1;
  const std::string run = work.run_once(Failed{"no"}, store::Quarantine{});
  const auto kept = [&](const char* item) {
    return work.server.command({"HGET", "work:kept-runs", item});
  };
  CHECK(kept("a").find("\"run\":\"" + run) != std::string::npos);
  CHECK(kept("a").find("\"outcome\":\"failed\",\"reason\":\"no\"") != std::string::npos);
  CHECK(kept("a").find("\"stderr\":\"tail\"") != std::string::npos);
  CHECK(kept("a").starts_with("{\"entered_ms\":"));
  work.server.command({"RPUSH", "work:list", "b", "c"});
  work.run_once(Failed{"no"}, store::Quarantine{});
  CHECK(work.number_of("work:failed-runs") == "1");
  CHECK(kept("a").find("\"run\":\"" + run) != std::string::npos);

  // The next quarantine deletes the record of an item that was released meanwhile.
  work.server.command({"DEL", "work:lock:a"});
  work.server.command({"HDEL", "work:quarantined", "a"});
  work.server.command({"LREM", "work:list", "0", "a"});
  work.run_once(Failed{"no"}, store::Quarantine{});
  CHECK(kept("a") == "(nil)");
  CHECK(work.server.command({"HLEN", "work:kept-runs"}) == "2");
}

TEST_CASE("the kept record of a run has only the end of long log output") {
  loop::Loop loop;
  EndedRun run{Claim{}, std::make_shared<const ListConfig>(list_rule()), Failed{"no"}, {}, {}, {}};
  for (int i = 0; i < 1000; ++i) run.end.stderr_tail += "line " + std::to_string(i) + "\n";
  const std::string text = store::kept_record("here", run, "3 consecutive failures");
  CHECK(text.size() < 5000);
  CHECK(text.find("\"stderr\":\"line ") != std::string::npos);
  CHECK(text.find("line 999\\n\"") != std::string::npos);
  CHECK(text.find("\"stalled\":\"3 consecutive failures\"") != std::string::npos);
  CHECK(text.back() == '}');
}
