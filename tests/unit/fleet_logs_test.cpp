#include "view/fleet_logs.hpp"

#include <doctest/doctest.h>

using namespace w8y;
using namespace std::chrono_literals;

namespace fleet_logs_test {

FleetCommand wish(const std::string& listener, const std::string& run,
                  std::optional<std::string> list = std::nullopt) {
  FleetCommand order;
  order.id = "1";
  order.kind = FleetCommandKind::logs;
  order.listener = listener;
  order.run = run;
  order.list = std::move(list);
  return order;
}

RunLogged said(std::string_view prefix, std::string_view run, std::string_view line) {
  return {{prefix, run, "a"}, line, false};
}

using Followed = LogFollowers::Followed;

TEST_CASE("logs: a follower of a run or a list receives its lines in batches") {
  LogFollowers followers;
  const Instant now{1h};
  CHECK(followers.none());
  CHECK_FALSE(followers.due().has_value());
  CHECK(followers.follow(wish("one", "01A"), now) == Followed::added);
  CHECK(followers.follow(wish("two", "", "work"), now) == Followed::added);
  CHECK(followers.follow(wish("one", "01A"), now + 1s) == Followed::renewed);
  followers.on_output(said("work", "01AX", "hello"), now);
  followers.on_output(said("work", "01B", "other"), now + 10ms);
  followers.on_output(said("films", "01AY", "film"), now + 20ms);
  CHECK(followers.due() == now + log_gathering);
  const auto due = followers.drain(now + log_gathering);
  REQUIRE(due.size() == 2);
  CHECK(due[0].listener == "one");
  REQUIRE(due[0].message.lines.size() == 2);
  CHECK(due[0].message.lines[0].line == "hello");
  CHECK(due[0].message.lines[1].list == "films");
  REQUIRE(due[1].message.lines.size() == 2);
  CHECK(due[1].message.lines[1].line == "other");
  CHECK(followers.drain(now + 1s).empty());

  const Outcome outcome = Failed{"exit status 1"};
  followers.ended({{"work", "01AX", "a"}, outcome, 1s, 1, 0}, now + 2s);
  CHECK(followers.due() == now + 2s + log_gathering);
  const auto ends = followers.drain(now + 3s);
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].message.ended.at(0).outcome == "failed");
}

TEST_CASE(
    "logs: a follower that does not renew its request is removed, and their number is limited") {
  LogFollowers followers;
  const Instant now{1h};
  followers.follow(wish("one", ""), now);
  CHECK(followers.due() == now + log_life);
  followers.follow(wish("one", ""), now + 10s);
  followers.drain(now + log_life);
  CHECK_FALSE(followers.none());
  followers.drain(now + 10s + log_life);
  CHECK(followers.none());
  for (std::size_t i = 0; i < max_log_followers; ++i)
    CHECK(followers.follow(wish(std::to_string(i), ""), now) == Followed::added);
  CHECK(followers.follow(wish("x", ""), now) == Followed::too_many);
}

TEST_CASE("logs: lines above the rate limit are counted and dropped") {
  LogFollowers followers;
  const Instant now{1h};
  followers.follow(wish("one", ""), now);
  for (std::size_t i = 0; i < max_log_lines + 7; ++i) followers.on_output(said("w", "1", "x"), now);
  auto due = followers.drain(now + 1ms);
  REQUIRE(due.size() == 1);
  CHECK(due[0].message.lines.size() == max_log_lines);
  CHECK(due[0].message.left_out == 7);
  followers.on_output(said("w", "1", "again"), now + 1s);
  CHECK(followers.drain(now + 2s).at(0).message.lines.size() == 1);

  const std::string long_line(max_told_line + 1, 'x');
  for (int i = 0; i < 40; ++i) followers.on_output(said("w", "1", long_line), now + 5s);
  due = followers.drain(now + 6s);
  CHECK(due.at(0).message.lines.size() == max_log_bytes / max_told_line);
  CHECK(due.at(0).message.lines[0].cut);
  CHECK(due.at(0).message.left_out == 40 - max_log_bytes / max_told_line);
}

TEST_CASE("logs: all updates are published, and the latest progress") {
  LogFollowers followers;
  const Instant now{1h};
  followers.follow(wish("one", "01A"), now);
  const RunRef of{"work", "01AX", "a"};
  for (const double step : {1.0, 2.0, 2.5}) followers.progressed({of, {step, 10}}, now);
  followers.updated({of, R"({"frame":7})"}, now);
  followers.updated({{"work", "01B", "a"}, "1"}, now);
  followers.progressed({{"work", "01AY", "a"}, {1, 2}}, now);
  followers.updated({of, std::string(max_told_update + 1, '1')}, now);
  const auto due = followers.drain(now + log_gathering);
  REQUIRE(due.size() == 1);
  const auto read = parse_log_message(R"({"host":"x",)" + to_text(due[0].message).substr(11));
  REQUIRE(read.has_value());
  REQUIRE(read->updates.size() == 3);
  CHECK(read->updates[0].progress->numerator == 2.5);
  CHECK(read->updates[0].run == "01AX");
  CHECK(read->updates[1].update == R"({"frame":7})");
  CHECK_FALSE(read->updates[1].progress.has_value());
  CHECK(read->updates[2].run == "01AY");
  CHECK(read->left_out == 1);
  for (std::size_t i = 0; i < max_log_lines + 7; ++i) followers.updated({of, "1"}, now + 5s);
  const auto many = followers.drain(now + 6s);
  CHECK(many.at(0).message.updates.size() == max_log_lines);
  CHECK(many.at(0).message.left_out == 7);
  const auto odd = parse_log_message(
      R"({"host":"a","updates":[1,{},{"numerator":"x","denominator":2},{"numerator":1}]})");
  REQUIRE(odd.has_value());
  CHECK(odd->updates.size() == 3);
  for (const LogProgress& news : odd->updates) CHECK_FALSE(news.progress.has_value());
}

TEST_CASE("logs: a message is parsed as it was written, and invalid text is refused") {
  LogMessage message;
  message.host = "alpha";
  message.lines = {{"a\xff", "01", "i\n", "b\xfe\t", true}, {"l", "02", "", "", false}};
  message.left_out = 3;
  message.ended = {{"l", "02", "failed", "exit status 1"}};
  const auto read = parse_log_message(to_text(message));
  REQUIRE(read.has_value());
  CHECK(read->host == "alpha");
  REQUIRE(read->lines.size() == 2);
  CHECK(read->lines[0].list == "a\xff");
  CHECK(read->lines[0].line == "b\xfe\t");
  CHECK(read->lines[0].cut);
  CHECK_FALSE(read->lines[1].cut);
  CHECK(read->left_out == 3);
  CHECK(read->ended.at(0).reason == "exit status 1");
  for (const char* text : {"", "x", "[]", "{}", R"({"host":7})", R"({"host":"a")"})
    CHECK_FALSE(parse_log_message(text).has_value());
  const auto odd = parse_log_message(R"({"host":"a","lines":[1,{}],"ended":7,"dropped":-1})");
  REQUIRE(odd.has_value());
  CHECK(odd->lines.size() == 1);
  CHECK(odd->left_out == 0);
}

}  // namespace fleet_logs_test
