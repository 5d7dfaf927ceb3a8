#include "api/api_json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "http/endpoint.hpp"
#include "http/target.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace std::string_literals;

namespace {

using Json = nlohmann::json;
using view::JsonFields;

}  // namespace

TEST_CASE("bytes are text if they are UTF-8 and base64 if not, and are restored completely") {
  for (const std::string& bytes : {"a:0"s, ""s, "\0\n"s, "é"s, "\xff\x00"s, "\xc3"s}) {
    core::AsciiObject json;
    json.put_bytes("item", bytes);
    const auto again = JsonFields::parse(json.finish());
    REQUIRE(again);
    CHECK(again->names().size() == 1);
    CHECK(again->bytes("item") == bytes);
  }
  core::AsciiObject json;
  json.put_bytes("item", "\xff");
  CHECK(json.finish() == R"({"item_base64":"/w=="})");
}

TEST_CASE("invalid bytes are refused") {
  for (const char* text : {"{}", R"({"item":1})", R"({"item":null})", R"({"item_base64":"?"})",
                           R"({"item":"a","item_base64":"YQ=="})", R"({"item_base64":["YQ=="]})"}) {
    CAPTURE(text);
    CHECK_FALSE(JsonFields::parse(text)->bytes("item"));
  }
}

TEST_CASE("the status of a host is JSON") {
  HostStatus host;
  host.host = "alpha";
  host.state = HostState::quiet;
  host.started = WallTime(1000);
  host.redis.url = "redis://localhost";
  ListStatus list;
  list.prefix = "media:thumbs";
  list.state = ListState::ineligible;
  list.why = "lacks \"gpu\"";
  list.counters.timed_out = 3;
  RunStatus run;
  run.run = "01HV";
  run.item = "\xff";
  run.fence = 1732147200000123;
  run.progress = Progress{3, 10};
  list.runs.push_back(run);

  core::JsonObject shown(512);
  view::put_host(shown, host, view::api);
  const Json json = Json::parse(shown.finish());
  CHECK(json["host"] == "alpha");
  CHECK(json["state"] == "quiet");
  CHECK(json["started_ms"] == 1000);
  CHECK(json["last_reload_ms"].is_null());
  CHECK(json["redis"]["connected"] == false);
  ListTotals totals;
  totals.add("alpha", list);
  totals.finish(std::nullopt);
  const Json all = Json::parse(view::to_json(list.prefix, totals, &list, view::api));
  CHECK(all["list"] == "media:thumbs");
  CHECK(all["state"] == "ineligible");
  CHECK_FALSE(all.contains("counters"));
  const Json& first = all["here"];
  CHECK(first["state"] == "ineligible");
  CHECK(first["reason"] == "lacks \"gpu\"");
  CHECK(first["counters"]["timed_out"] == 3);
  CHECK(first["runs"][0]["item_base64"] == "/w==");
  CHECK(first["runs"][0]["fence"] == 1732147200000123);
  CHECK(first["runs"][0]["progress"]["denominator"] == 10);
}

TEST_CASE("events are JSON") {
  const RunRef of{"work", "01HV", "a:0"};
  const auto json = [](const Event& event) { return Json::parse(to_json(event, WallTime(5))); };
  CHECK(json(RunEnded{of, Failed{"no space"}, std::chrono::milliseconds(1500)}) ==
        Json::parse(R"({"type":"end","time_ms":5,"list":"work","run":"01HV","item":"a:0",
                        "outcome":"failed","reason":"no space","duration_ms":1500})"));
  CHECK(json(RunUpdated{of, R"({"a":[1]})"})["data"]["a"][0] == 1);
  CHECK(json(RunUpdated{of, "no json"})["data"].is_null());
  CHECK(json(ListChanged{"work", ListState::paused, "why"})["state"] == "paused");
  CHECK(json(Reloaded{true, 2, "x"})["generation"] == 2);
  CHECK(json(ShortageChanged{{"work", nullptr}, false, "no processes", 0, {}}) ==
        Json::parse(R"({"type":"list","time_ms":5,"list":"work","state":"starved",
                        "reason":"no processes"})"));
  CHECK(json(ShortageChanged{{"work", nullptr}, true, {}, 3, {}}) ==
        Json::parse(R"({"type":"list","time_ms":5,"list":"work","state":"running","reason":""})"));
  CHECK(json(HostReady{3, "abc"}) ==
        Json::parse(R"({"type":"host","time_ms":5,"state":"running","reason":""})"));
  // Events that are only logged have no name.
  CHECK(event_name(RunLogged{of, "hello", false}) == nullptr);
  CHECK(event_name(ItemQuarantined{"work", "a:0", "why"}) == nullptr);
}

TEST_CASE("JSON has no control character for a terminal, and deep nesting is refused") {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  CHECK_FALSE(JsonFields::parse("{\"a\":" + deep + "}"));
  CHECK(Json::parse(to_json(RunUpdated{{}, deep}, WallTime(0)))["data"].is_null());
  core::AsciiObject json;
  json.put("reason", "\x1b[2J\xc2\x9b\n\xff");
  const std::string text = json.finish();
  for (const char character : text) {
    CHECK(character >= 0x20);
    CHECK(character < 0x7f);
  }
  CHECK(JsonFields::parse(text));
  ListStatus list;
  list.prefix = "\xc2\x9b\u00e9";
  list.caps = {list.prefix};
  list.why = list.last_error = list.unwritten = list.prefix;
  list.pause = Pause{list.prefix, list.prefix, WallTime{0}, WallTime{0}};
  list.runs.emplace_back().item = list.prefix;
  ListTotals totals;
  totals.add(list.prefix, list);
  totals.add("other", ListStatus());
  for (const view::Surface surface : {view::api, view::detail, view::page, view::fleet}) {
    const bool of_fleet = surface == view::api || surface == view::detail;
    const std::string shown = of_fleet ? view::to_json(list.prefix, totals, &list, surface)
                                       : view::to_json(list, surface);
    CHECK(std::all_of(shown.begin(), shown.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
  }
}

TEST_CASE("targets are split before they are decoded") {
  using Path = std::vector<std::string>;
  CHECK(parse_target("/")->path == Path{""});
  CHECK(parse_target("/api/v1/lists/")->path == Path{"api", "v1", "lists", ""});
  CHECK(parse_target("/lists/a%2Fb")->path == Path{"lists", "a/b"});
  CHECK(parse_target("/lists/media:thumbs")->path == Path{"lists", "media:thumbs"});
  CHECK(parse_target("/a%00b%ff")->path == Path{"a\0b\xff"s});
  CHECK(parse_target("/a+b/..")->path == Path{"a+b", ".."});
  CHECK(parse_target("/x?list=a%26b&n&n=2&=")->query ==
        std::map<std::string, std::string>{{"list", "a&b"}, {"n", ""}, {"", ""}});
  CHECK(parse_target("/x?a?b=c")->query.at("a?b") == "c");
}

TEST_CASE("invalid targets are refused") {
  for (const char* text :
       {"", "*", "x", "http://h/x", "/%", "/%4", "/%zz", "/%4g", "/x?%", "/x?a=%f"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_target(text));
  }
}

TEST_CASE("an endpoint makes targets that parse to its arguments, and refuses others") {
  constexpr Endpoint items{"GET", "/lists/*/items/*", {"state", "after", "search"}};
  const auto target = parse_target(
      items.target({"a/b", "?\xff"}, {{"state", "x&y=z"}, {"after", ""}, {"search", std::nullopt}})
          .text());
  CHECK(target->path == std::vector<std::string>{"lists", "a/b", "items", "?\xff"});
  CHECK(target->query == std::map<std::string, std::string>{{"state", "x&y=z"}, {"after", ""}});
  CHECK(items.target({"a", "b"}).text() == "/lists/a/items/b");
  CHECK_THROWS_WITH(static_cast<void>(items.target({"a"})), "/lists/*/items/* needs more segments");
  CHECK_THROWS_WITH(static_cast<void>(items.target({"a", "b", "c"})),
                    "/lists/*/items/* has fewer segments");
  CHECK_THROWS_WITH(static_cast<void>(items.target({"a", "b"}, {{"status", "x"}})),
                    "/lists/*/items/* has no parameter status");
}

TEST_CASE("a path restores each segment") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::vector<std::string> segments = {"api", "", "..", "a/b?c#d%", all, ""};
  CHECK(parse_target(make_path(segments))->path == segments);
  CHECK(make_path({}) == "/");
}
