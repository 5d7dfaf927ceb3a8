#include "executor/stream_session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::executor;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace stream_dialogue_test {
namespace {

using Lines = std::vector<std::string>;

struct Said : StreamSessionHandler {
  Lines told;
  StreamSession dialogue{share(rule()), *this};

  static ListConfig rule() {
    ListConfig made = rule_for("work");
    made.max_line = 200;
    made.stderr_tail = 8;
    return made;
  }
  void begin(const RunId& run) { dialogue.begin(run, "0123456789"); }
  void hear(const std::string& line) { dialogue.read_output(line + '\n'); }
  void complete(const RunId& run) { hear(R"({"type":"complete","id":")" + run + R"("})"); }
  Lines take() { return std::exchange(told, {}); }

  void on_message(const RunId& run, Message&& message) override {
    const auto* bad = std::get_if<BadLine>(&message);
    told.push_back(bad != nullptr                              ? run + " bad: " + bad->reason
                   : std::holds_alternative<Progress>(message) ? run + " progress"
                   : std::holds_alternative<Complete>(message) ? run + " complete"
                                                               : run + " ?");
  }
  void on_log(const RunId& run, std::string_view line, bool cut) override {
    told.push_back(run + " log: " + std::string(line) + (cut ? " (cut)" : ""));
  }
  void on_news(const ProcessEvent& news) override {
    if (const auto* line = std::get_if<ProcessLine>(&news))
      told.push_back("log: " + std::string(line->line));
    if (const auto* bad = std::get_if<ProcessBadLine>(&news))
      told.push_back("bad " + std::to_string(bad->number) + ": " + bad->reason);
  }
  void on_answer() override { told.push_back("answer"); }
  void on_run_over(const RunId& run, RunEnd&& end) override {
    told.push_back(run + " over: " + end_text(end.process) + " [" + end.stderr_tail + "] " +
                   std::to_string(end.bad_lines));
  }
};

}  // namespace

TEST_CASE("a reply ends its run later, in end_answered") {
  Said s;
  s.begin("a");
  s.begin("b");
  s.hear(R"({"type":"progress","id":"b","numerator":1,"denominator":2})");
  CHECK_FALSE(s.dialogue.has_answered());
  s.complete("b");
  CHECK(s.take() == Lines{"b progress", "b complete", "answer"});
  CHECK(s.dialogue.has_answered());
  CHECK(s.dialogue.replied_runs() == 1);
  CHECK(s.dialogue.has("b"));
  s.complete("b");
  CHECK(s.take() == Lines{"b bad: a second \"complete\" message"});
  s.dialogue.end_answered();
  CHECK(s.take() == Lines{"b over: answered [] 1"});
  CHECK_FALSE(s.dialogue.has("b"));
  CHECK(s.dialogue.open() == 1);
}

TEST_CASE("late lines of a finished run are ignored, and lines of unknown runs are bad") {
  Said s;
  s.begin("a");
  s.complete("a");
  s.dialogue.end_answered();
  s.take();
  s.complete("a");
  CHECK(s.take().empty());
  s.complete("z");
  s.hear("nonsense");
  s.hear(R"({"type":"print","content":"x"})");
  const Lines told = s.take();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "bad 1: unknown id: z");
  CHECK(told[1].starts_with("bad 2: "));
  CHECK(told[2].starts_with("bad 3: "));
  CHECK(s.dialogue.bad_lines() == 3);
}

TEST_CASE("the number of remembered finished runs is limited") {
  Said s;
  for (std::size_t i = 0; i <= StreamSession::max_past; ++i) {
    const RunId run = "run" + std::to_string(i);
    s.begin(run);
    s.complete(run);
    s.dialogue.end_answered();
  }
  s.take();
  s.complete("run1");
  CHECK(s.take().empty());
  s.complete("run0");
  CHECK(s.take() == Lines{"bad 1: unknown id: run0"});
}

TEST_CASE("log output belongs to the only open run, or to none") {
  Said s;
  s.dialogue.read_errors("early\n");
  s.begin("a");
  s.dialogue.read_errors("of a 0123\n");
  s.begin("b");
  s.dialogue.read_errors("of both\n");
  CHECK(s.take() == Lines{"log: early", "a log: of a 0123", "log: of both"});
  s.complete("a");
  s.dialogue.end_answered();
  CHECK(s.take().back() == "a over: answered [ a 0123\n] 0");
}

TEST_CASE("print messages are in the tail of their run, between the lines of standard error") {
  Said s;
  s.begin("a");
  s.dialogue.read_errors("err");
  s.begin("b");
  s.hear(R"({"type":"print","id":"a","content":"1"})");
  s.hear(R"({"type":"print","id":"b","content":"2\n"})");
  CHECK(s.dialogue.tail("a") == "err\n1\n");
  s.take();
  s.complete("a");
  s.complete("b");
  s.dialogue.end_answered();
  CHECK(s.take() == Lines{"a complete", "answer", "b complete", "answer",
                          "a over: answered [err\n1\n] 0", "b over: answered [2\n] 0"});
}

TEST_CASE("runs without a result have their own output, and the last output of no run") {
  Said s;
  s.begin("a");
  s.begin("b");
  s.hear(R"({"type":"print","id":"a","content":"0123456"})");
  s.dialogue.read_errors("why it ended\n");
  s.take();
  CHECK(s.dialogue.close("exit 1", 1000, false, false).empty());
  const Lines told = s.take();
  REQUIRE(told.size() == 2);
  for (const std::string& each : told)
    CHECK(each.ends_with(each.starts_with("a") ? "[456\nded\n] 0" : "[t ended\n] 0"));
}

TEST_CASE("the run ID of a line that is too long is parsed from its start") {
  Said s;
  s.begin("a");
  s.begin("b");
  const std::string rest(300, 'x');
  s.hear(R"({"id":"b","type":"print","content":")" + rest);
  CHECK(s.take() == Lines{"b bad: longer than 200B"});
  s.hear(R"({"id":"b","type":"complete","result":")" + rest);
  CHECK(s.take() == Lines{"b bad: longer than 200B", "b complete", "answer"});
  s.hear(rest);
  CHECK(s.take() == Lines{"bad 1: longer than 200B"});
}

TEST_CASE("each run is cancelled once, and the earliest deadline counts") {
  Said s;
  const Instant now{1h};
  s.begin("a");
  s.begin("b");
  CHECK_FALSE(s.dialogue.first_cancel());
  const std::uint64_t before = s.dialogue.input_bytes();
  const std::string line = s.dialogue.cancel("b", now + 10s);
  CHECK(line.find("\"b\"") != std::string::npos);
  CHECK(s.dialogue.input_bytes() == before + line.size());
  CHECK(s.dialogue.cancel("b", now + 1s).empty());
  CHECK(s.dialogue.cancel("z", now + 1s).empty());
  CHECK_FALSE(s.dialogue.cancel("a", now + 5s).empty());
  CHECK(s.dialogue.cancels() == 2);
  CHECK(s.dialogue.first_cancel() == now + 5s);
  s.complete("a");
  CHECK(s.dialogue.first_cancel() == now + 10s);
  s.dialogue.end_answered();
  CHECK(s.dialogue.cancels() == 1);
  CHECK(s.dialogue.cancel("a", now).empty());
}

TEST_CASE("runs that an ended process has not read are left for another process") {
  Said s;
  s.begin("a");
  s.begin("b");
  s.begin("c");
  REQUIRE(s.dialogue.give_up("c", Instant{1h}));
  s.dialogue.read_errors("why");
  s.dialogue.finish();
  CHECK(s.take() == Lines{"log: why"});
  SUBCASE("the process read the first run and a part of the second") {
    const auto unread = s.dialogue.close("exit status 1", 15, false, true);
    REQUIRE(unread.size() == 1);
    CHECK(unread.front().run == "b");
    CHECK(unread.front().line == "0123456789");
    CHECK(unread.front().reported);
    const Lines told = s.take();
    CHECK(count(told, "a over: its process ended: exit status 1 [why] 0") == 1);
    CHECK(count(told, "c over: its process ended: exit status 1 [why] 0") == 1);
  }
  SUBCASE("no run is left if the process has never replied") {
    CHECK(s.dialogue.close("exit status 1", 0, false, false).empty());
    CHECK(s.take().size() == 3);
  }
  CHECK(s.dialogue.open() == 0);
}

}  // namespace stream_dialogue_test
