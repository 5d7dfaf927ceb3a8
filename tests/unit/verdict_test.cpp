#include <doctest/doctest.h>

#include <w8y/idle.hpp>
#include <w8y/reload_plan.hpp>
#include <w8y/run_id.hpp>
#include <w8y/verdict.hpp>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

std::string outcome_of(const Rule& rule, ProcessEnd process,
                       std::optional<std::string> error = std::nullopt, bool complete = true,
                       std::optional<StopReason> stopped = std::nullopt) {
  RunEnd end;
  end.process = std::move(process);
  if (complete) end.complete = Complete{"{}", std::move(error), {}, {}, {}, {}};
  return outcome_name(judge(rule, end, stopped, 1).outcome);
}

}  // namespace

TEST_CASE("the table of executor.md, line by line") {
  Rule rule;
  rule.child.edit().success_exit_codes = {0, 7};
  CHECK(outcome_of(rule, Exited{0}) == "succeeded");
  CHECK(outcome_of(rule, Exited{0}, {}, false) == "succeeded");
  CHECK(outcome_of(rule, Exited{7}) == "succeeded");
  CHECK(outcome_of(rule, Exited{0}, "no disk") == "failed");
  CHECK(outcome_of(rule, Exited{1}) == "crashed");
  CHECK(outcome_of(rule, Signalled{9}) == "crashed");
  CHECK(outcome_of(rule, Exited{0}, {}, true, StopReason::timeout) == "timed out");
  CHECK(outcome_of(rule, Signalled{15}, {}, true, StopReason::progress_timeout) == "timed out");
  CHECK(outcome_of(rule, Exited{0}, {}, true, StopReason::shutdown) == "cancelled");
  CHECK(outcome_of(rule, Exited{0}, {}, true, StopReason::cancelled) == "cancelled");
  CHECK(outcome_of(rule, Signalled{9}, {}, true, StopReason::lease_lost) == "lost");
  CHECK(outcome_of(rule, NotStarted{"no such file", false, false}) == "crashed");
  CHECK(outcome_of(rule, NotStarted{"NUL in item", true, false}) == "failed");
}

TEST_CASE("a plain command fails by its exit status, and crashes by a signal") {
  Rule rule;
  rule.command = {"false"};
  CHECK(outcome_of(rule, Exited{0}, {}, false) == "succeeded");
  CHECK(outcome_of(rule, Signalled{9}, {}, false) == "crashed");
  CHECK(outcome_of(rule, NotStarted{"no such file", false, false}, {}, false) == "crashed");
  RunEnd end;
  end.process = Exited{1};
  const Verdict verdict = judge(rule, end, {}, 1);
  CHECK(std::string(outcome_name(verdict.outcome)) == "failed");
  CHECK(outcome_reason(verdict.outcome) == "exit status 1");
  CHECK(verdict.failures == FailureCount::increment);
}

TEST_CASE("the runs of a stream process") {
  Rule rule;
  rule.child.edit().success_exit_codes = {7};  // there is no exit code to compare
  CHECK(outcome_of(rule, Answered{}) == "succeeded");
  CHECK(outcome_of(rule, Answered{}, "no disk") == "failed");
  CHECK(outcome_of(rule, Answered{}, {}, true, StopReason::timeout) == "timed out");
  CHECK(outcome_of(rule, Unanswered{"exit 0"}, {}, false) == "crashed");
  CHECK(outcome_of(rule, Unanswered{"exit 0"}, {}, false, StopReason::cancelled) == "cancelled");
  CHECK(outcome_of(rule, Unanswered{"exit 0", true}, {}, false) == "cancelled");
  CHECK(outcome_of(rule, Unanswered{"exit 0", true}, {}, false, StopReason::lease_lost) == "lost");

  RunEnd end;
  end.process = Unanswered{"signal 9 (SIGKILL)", true};
  const Verdict verdict = judge(rule, end, {}, 3);
  CHECK(std::holds_alternative<SetFree>(verdict.rest));
  CHECK(verdict.failures == FailureCount::keep);
  CHECK(outcome_reason(verdict.outcome) == "its process was ended because of another run");
  end.process = Unanswered{"its process ended: exit 3"};
  CHECK(outcome_reason(judge(rule, end, {}, 3).outcome) == "its process ended: exit 3");
}

TEST_CASE("what becomes of the item") {
  Rule rule;
  rule.cooldown = 10min;
  RunEnd end;
  end.process = Exited{0};
  CHECK(std::get<RestFor>(judge(rule, end, {}, 1).rest).time == 10min);
  CHECK(judge(rule, end, {}, 1).failures == FailureCount::reset);

  end.complete = Complete{"{}", {}, 5s, {}, {}, {}};
  CHECK(std::get<RestFor>(judge(rule, end, {}, 1).rest).time == 5s);
  end.complete = Complete{"{}", {}, 0s, {}, {}, {}};
  CHECK(std::holds_alternative<SetFree>(judge(rule, end, {}, 1).rest));

  end.complete.reset();
  end.process = Exited{1};
  const Verdict third = judge(rule, end, {}, 3);
  CHECK(third.failures == FailureCount::increment);
  CHECK(std::get<RestFor>(third.rest).time == 4s);
  CHECK(std::get<RestFor>(third.rest).after_failure);

  // What the executor says can only lengthen it.
  end.process = Exited{0};
  end.complete = Complete{"{}", "no", 0s, {}, {}, {}};
  CHECK(std::get<RestFor>(judge(rule, end, {}, 3).rest).time == 4s);
  end.complete->cooldown = 1h;
  CHECK(std::get<RestFor>(judge(rule, end, {}, 3).rest).time == 1h);
  CHECK(std::get<RestFor>(judge(rule, end, {}, 3).rest).after_failure);
  end.complete.reset();
  end.process = Exited{1};

  rule.max_failures = 3;
  CHECK(std::holds_alternative<Quarantine>(judge(rule, end, {}, 3).rest));
  CHECK(std::holds_alternative<RestFor>(judge(rule, end, {}, 2).rest));

  // Neither cancelled nor lost counts, and the item is free at once.
  const Verdict cancelled = judge(rule, end, StopReason::cancelled, 3);
  CHECK(cancelled.failures == FailureCount::keep);
  CHECK(std::holds_alternative<SetFree>(cancelled.rest));
}

TEST_CASE("what could not be started rests, whatever the config says about backoff") {
  Rule rule;
  rule.backoff.reset();
  RunEnd end;
  end.process = NotStarted{"no such file", false, false};
  CHECK(std::get<RestFor>(judge(rule, end, {}, 1).rest).time == 1s);
  end.process = Exited{1};
  CHECK(std::holds_alternative<SetFree>(judge(rule, end, {}, 1).rest));
}

TEST_CASE("backoff grows to its most and stays there") {
  const Backoff backoff{1s, 5min, 2.0};
  CHECK(backoff_after(backoff, 1) == 1s);
  CHECK(backoff_after(backoff, 4) == 8s);
  CHECK(backoff_after(backoff, 10) == 5min);
  CHECK(backoff_after(backoff, 4000000000U) == 5min);
  CHECK(backoff_after(std::nullopt, 3) == 0s);
}

TEST_CASE("run ids sort by time, also within a millisecond and when the date is set back") {
  RunIds ids(1);
  RunId last = ids.next(WallTime(1'700'000'000'000));
  CHECK(last.size() == 26);
  CHECK(last.substr(0, 10) == "01HF7YAT00");
  for (const std::int64_t ms : {1'700'000'000'000, 1'700'000'000'001, 1'600'000'000'000}) {
    const RunId next = ids.next(WallTime(ms));
    CHECK(next > last);
    last = next;
  }
}

TEST_CASE("a reload plan names each change, and says nothing when there is none") {
  ConfigText before;
  before.lists["a"] = {{"concurrency", "1"}, {"timeout", "0s"}};
  before.lists["gone"] = {};
  before.redis = {{"url", "redis://a"}};
  ConfigText after = before;
  CHECK(plan_reload(before, after).empty());
  after.lists.erase("gone");
  after.lists["new"] = {};
  after.lists["a"]["concurrency"] = "4";
  after.redis["url"] = "redis://b";
  CHECK(plan_reload(before, after).lines() ==
        std::vector<std::string>{"redis: url: redis://a -> redis://b",
                                 "lists.a: concurrency: 1 -> 4",
                                 "lists.gone: removed, its runs finish", "lists.new: added"});
}

namespace {
Config config_of(std::initializer_list<std::pair<const char*, unsigned>> lists) {
  Config config;
  config.supervisor.host = "here";
  for (const auto& [prefix, concurrency] : lists) {
    auto rule = std::make_shared<Rule>();
    rule->prefix = prefix;
    rule->concurrency = concurrency;
    config.lists.emplace(prefix, std::move(rule));
  }
  return config;
}
}  // namespace

TEST_CASE("a reload plan of two configs is the one of their texts") {
  const Config before = config_of({{"a", 1}, {"b", 1}, {"d", 1}});
  Config after = config_of({{"a", 1}, {"b", 2}, {"c", 1}, {"e", 1}});
  after.redis.idle_commands = 7;
  const auto lines = plan_reload(before, after).lines();
  CHECK(lines == std::vector<std::string>{
                     "redis: idle_commands: 100 -> 7", "lists.b: concurrency: 1 -> 2",
                     "lists.d: removed, its runs finish", "lists.c: added", "lists.e: added"});
  CHECK(lines == plan_reload(describe(before), describe(after)).lines());
  CHECK(plan_reload(before, before).empty());
}

TEST_CASE("of a config that was read again, what is as it was keeps its rules") {
  const Config before = config_of({{"a", 1}, {"b", 1}, {"d", 1}});
  Config after = config_of({{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}});
  keep_unchanged(before, after);
  CHECK(after.lists.at("a") == before.lists.at("a"));
  CHECK(after.lists.at("d") == before.lists.at("d"));
  CHECK(after.lists.at("b")->concurrency == 2);
  CHECK(after.lists.at("c")->prefix == "c");
}

TEST_CASE("settings that are shared are one's own as soon as they change") {
  Rule first;
  Rule second = first;
  CHECK(&*first.child == &*second.child);
  second.child.edit().cwd = "/tmp";
  CHECK(first.child->cwd == "/");
  CHECK(Rule().child->cwd == "/");
  CHECK(first != second);
  const Rule third = second;
  second.child.edit().cwd = "/";
  CHECK(third.child->cwd == "/tmp");
  CHECK(first == second);
}
