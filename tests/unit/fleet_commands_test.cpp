#include "view/fleet_commands.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "view/list_view.hpp"

using namespace w8y;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace fleet_orders_test {
namespace {

std::string why_bad(std::string_view text) {
  const auto order = parse_command(text);
  const auto* bad = std::get_if<InvalidFleetCommand>(&order);
  return bad == nullptr ? "" : bad->why;
}

}  // namespace

TEST_CASE("fleet: a control command is parsed as it was written") {
  FleetCommand order;
  order.id = "0123abcd";
  order.kind = FleetCommandKind::cancel;
  order.host = "alpha";
  order.by = "root on beta";
  order.until = 77ms;
  order.run = "01HV";
  const auto read = parse_command(to_text(order));
  REQUIRE(std::holds_alternative<FleetCommand>(read));
  CHECK(std::get<FleetCommand>(read) == order);
  CHECK(order.is_for("alpha", "alpha-1"));
  CHECK_FALSE(order.is_for("alphas", "alphas-1"));
  order.host = "alpha-1";
  CHECK(order.is_for("alpha", "alpha-1"));

  FleetCommand run;
  run.id = "1";
  run.kind = FleetCommandKind::run;
  run.list = "a\xff";
  run.item = "b\xfe";
  CHECK(std::get<FleetCommand>(parse_command(to_text(run))) == run);
  CHECK(run.is_for("anybody", "x"));

  FleetCommand runs;
  runs.id = "2";
  runs.list = "";  // a list may have this name
  CHECK(std::get<FleetCommand>(parse_command(to_text(runs))) == runs);
  FleetCommand logs = runs;
  logs.kind = FleetCommandKind::logs;
  logs.list.reset();
  logs.run = "01";
  logs.listener = "77";
  CHECK(std::get<FleetCommand>(parse_command(to_text(logs))) == logs);
}

TEST_CASE("fleet: an invalid control command is refused with a reason") {
  CHECK(why_bad("hello") == "it is not a JSON object");
  CHECK(why_bad("[]") == "it is not a JSON object");
  CHECK(why_bad(std::string(max_command + 1, 'x')).starts_with("it has 65537 bytes"));
  CHECK(why_bad(R"({"command":"quiet","all":true})") ==
        "its id must have from 1 to 64 letters, digits and '-'");
  CHECK(why_bad(R"({"id":"a:b","command":"quiet","all":true})").starts_with("its id"));
  CHECK(why_bad(R"({"id":"a","command":"dance","all":true})") == "there is no command dance");
  CHECK(why_bad(R"({"id":"a","command":7,"all":true})") == R"(there is no command "")");
  CHECK(why_bad(R"({"id":"a","command":"quiet"})").starts_with("exactly one of"));
  CHECK(why_bad(R"({"id":"a","command":"quiet","all":true,"host":"b"})")
            .starts_with("exactly one of"));
  CHECK(why_bad(R"({"id":"a","command":"quiet","all":"yes"})").starts_with("exactly one of"));
  CHECK(why_bad(R"({"id":"a","command":"cancel","all":true})") == "the run to cancel is missing");
  CHECK(why_bad(R"({"id":"a","command":"run","all":true})") == "the list of the item is missing");
  CHECK(why_bad(R"({"id":"a","command":"logs","all":true,"listener":"a:b"})")
            .starts_with("its listener"));
  CHECK(why_bad(R"({"id":"a","command":"quiet","all":true})").empty());
}

TEST_CASE("fleet: a reply is parsed as it was written, and invalid text is no reply") {
  FleetReply answer;
  answer.host = "alpha";
  answer.host_id = "alpha-1";
  answer.result = "refused";
  answer.text = "this host is draining";
  answer.lines = {"a", "b"};
  view::RunView run;
  run.list = "work";
  run.status.run = "01HV0000000000000000000000";
  run.status.progress = Progress{1, 3};
  run.age = 17ms;
  answer.runs = {run};
  answer.omitted_runs = 4;
  ListStatus list;
  list.state = ListState::idle;
  list.why = "no items";
  list.concurrency = 4;
  answer.list = HostList{list, "quiet", 2, 8};
  answer.run = "01";
  const auto read = parse_reply(to_text(answer));
  REQUIRE(read.has_value());
  CHECK(read->host == "alpha");
  CHECK(read->host_id == "alpha-1");
  CHECK_FALSE(read->good());
  CHECK(read->lines == answer.lines);
  REQUIRE(read->runs.size() == 1);
  CHECK(view::to_json(read->runs.front()) == view::to_json(run));
  CHECK(read->omitted_runs == 4);
  REQUIRE(read->list);
  CHECK(view::to_json(read->list->list, view::reply) == view::to_json(list, view::reply));
  CHECK(read->list->host_state == "quiet");
  CHECK(read->list->slots_used == 2);
  CHECK(read->list->slots_limit == 8);
  CHECK(read->run == "01");
  for (const char* text : {"", "x", "{}", R"({"host":"a"})", R"({"host":"a","host_id":"b"})"})
    CHECK_FALSE(parse_reply(text).has_value());
  // A run without an ID is invalid.
  CHECK(
      parse_reply(R"({"host":"a","host_id":"b","result":"done","runs":[1,"x",{}]})")->runs.empty());
}

/// JsonFields finds members in a tree. A comparison with all others would take 12 s.
TEST_CASE("fleet: a reply with the maximum number of members is parsed" * doctest::timeout(5)) {
  std::string text = R"({"host":"a","host_id":"b","result":"done")";
  for (int i = 0; text.size() < max_answer - 20; ++i) text += ",\"m" + std::to_string(i) + "\":1";
  text += "}";
  CHECK(parse_reply(text).has_value());
}

TEST_CASE("fleet: a control command is done when all hosts have executed it") {
  FleetCommandResult outcome;
  FleetReply done;
  done.result = "accepted";
  outcome.replies = {done};
  CHECK(outcome.complete());
  outcome.no_reply.push_back({"beta", "beta-1", false, 0ms});
  CHECK_FALSE(outcome.complete());
  outcome.no_reply.clear();
  outcome.replies.front().result = "refused";
  CHECK_FALSE(outcome.complete());
}

}  // namespace fleet_orders_test
