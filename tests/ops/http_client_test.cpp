#include "ops/http_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support.hpp"

using namespace w8y::ops;
using namespace w8y::ops::test;

namespace {

std::vector<ServerSentEvent> parse_in_pieces(const std::string& text, std::size_t piece) {
  std::vector<ServerSentEvent> events;
  EventParser parser;
  for (std::size_t i = 0; i < text.size(); i += piece)
    CHECK(parser.feed(text.substr(i, piece), [&](const ServerSentEvent& event) {
      events.push_back(event);
      return true;
    }));
  return events;
}

}  // namespace

TEST_CASE("server-sent events, however they are cut into pieces") {
  const std::string text =
      ": hello\n\nevent: start\nid: 7\ndata: {\"a\":1}\n\n:\n\ndata:x\ndata: y\n\nevent: no "
      "data\n\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const auto events = parse_in_pieces(text, piece);
    REQUIRE(events.size() == 2);
    CHECK(events[0].name == "start");
    CHECK(events[0].id == "7");
    CHECK(events[0].data == "{\"a\":1}");
    CHECK(events[1].name.empty());
    CHECK(events[1].data == "x\ny");
  }
}

TEST_CASE("an event without end is given up") {
  EventParser parser;
  const std::string piece(1 << 20, 'x');
  bool going = true;
  int pieces = 0;
  for (; going && pieces < 100; ++pieces)
    going = parser.feed(piece, [](const ServerSentEvent&) { return true; });
  CHECK(pieces < 6);
}

TEST_CASE("a server that isn't there is a problem, not an exception") {
  const TempFolder folder;
  HttpClient client(folder / "nobody.sock");
  const HttpResult result = client.get("/");
  CHECK(result.status == 0);
  CHECK_FALSE(result.problem.empty());
}
