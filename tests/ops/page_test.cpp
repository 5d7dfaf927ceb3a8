// Files of the page, and its event stream.
#include "page/page.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http/server.hpp"
#include "ops_support.hpp"
#include "page_support.hpp"
#include "raw_client.hpp"
#include "view/json_fields.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;

namespace page_test {
namespace {

/// Returns the response of a server to one request.
std::string ask(const std::string& request, PageControl& control) {
  TempDir directory;
  loop::Loop loop;
  Router router;
  add_page(router, control);
  const std::string path = directory / "page.sock";
  HttpServer server(loop, path, router);
  std::string answer;
  beside(loop, [&] {
    RawClient client(path);
    client.send(request + "\r\nHost: here\r\nConnection: close\r\n\r\n");
    answer = client.receive();
  });
  return answer;
}

std::string file_named(const std::string& ending) {
  for (const PageFile& file : page_files())
    if (file.name.ends_with(ending)) return std::string(file.name);
  return {};
}

}  // namespace

TEST_CASE("files of the page have their type, may be compressed, and are cached without expiry") {
  PageControl control;
  const std::string app = file_named(".js");
  REQUIRE(!app.empty());
  CHECK(app.find(page_mark) != std::string::npos);
  const std::string plain = ask("GET /page/" + app + " HTTP/1.1", control);
  CHECK(plain.find("HTTP/1.1 200 OK") == 0);
  CHECK(plain.find("Content-Type: text/javascript; charset=utf-8\r\n") != std::string::npos);
  CHECK(plain.find("Cache-Control: public, max-age=31536000, immutable\r\n") != std::string::npos);
  CHECK(plain.find("Content-Encoding") == std::string::npos);
  CHECK(plain.find("Vary: Accept-Encoding\r\n") != std::string::npos);
  for (const char* yes : {"gzip", "br, gzip;q=0.5", "deflate,gzip"}) {
    CAPTURE(yes);
    const std::string packed =
        ask("GET /page/" + app + " HTTP/1.1\r\nAccept-Encoding: " + yes, control);
    CHECK(packed.find("Content-Encoding: gzip\r\n") != std::string::npos);
    CHECK(packed.substr(packed.find("\r\n\r\n") + 4, 2) == "\x1f\x8b");
    CHECK(packed.size() < plain.size());
  }
  for (const char* no : {"br", "gzip;q=0", "identity, gzip;q=0.0", "*;q=0"}) {
    CAPTURE(no);
    CHECK(ask("GET /page/" + app + " HTTP/1.1\r\nAccept-Encoding: " + no, control)
              .find("Content-Encoding") == std::string::npos);
  }
  CHECK(ask("GET /page/app.js HTTP/1.1", control).find("HTTP/1.1 404") == 0);
  std::size_t size = page_head.size() + page_tail.size();
  for (const PageFile& file : page_files()) size += file.plain.size();
  CHECK(size <= 153'600);
}

TEST_CASE("a page without scripts has the lists, escaped, 1,000 at a time") {
  PageControl control;
  control.add("<b>&\"x\"\n");
  for (int i = 1000; i < 2500; ++i) control.add("list" + std::to_string(i));
  const std::string first = ask("GET / HTTP/1.1", control);
  CHECK(first.find("HTTP/1.1 200 OK") == 0);
  CHECK(first.find("Content-Type: text/html; charset=utf-8\r\n") != std::string::npos);
  CHECK(first.find("Content-Security-Policy: default-src 'self';") != std::string::npos);
  CHECK(first.find("frame-ancestors 'none'") != std::string::npos);
  CHECK(first.find("unsafe") == std::string::npos);
  CHECK(first.find("Referrer-Policy: no-referrer\r\n") != std::string::npos);
  CHECK(first.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
  CHECK(first.find("Cache-Control: no-store\r\n") != std::string::npos);
  CHECK(first.find("&lt;b&gt;&amp;&quot;x&quot;\\n") != std::string::npos);
  CHECK(first.find("<b>") == std::string::npos);
  CHECK(first.find("list1998<") != std::string::npos);
  CHECK(first.find("list1999<") == std::string::npos);
  CHECK(first.find("href=\"/?after=list1998\"") != std::string::npos);
  CHECK(first.find("<script type=\"module\" async src=\"page/app." + std::string(page_mark)) !=
        std::string::npos);
  const std::string rest = ask("GET /?after=list1998 HTTP/1.1", control);
  CHECK(rest.find("list1998<") == std::string::npos);
  CHECK(rest.find("list1999<") != std::string::npos);
  CHECK(rest.find("list2499<") != std::string::npos);
  CHECK(rest.find("?after=") == std::string::npos);
}

TEST_CASE("a hub without pages only counts events, and queries nothing") {
  LiveFixture f;
  f.control.add("a");
  f.end_run("a", true);
  turn_for(f.loop, 20ms);
  CHECK(!f.hub.listens());
  CHECK(f.control.walks + f.control.queries + f.control.refreshed + f.fleet.queries == 0);
  CHECK(f.hour.lists() == 1);
}

TEST_CASE("a page receives a snapshot, then changes") {
  LiveFixture f;
  for (int i = 0; i < 100; ++i) f.control.add("list" + std::to_string(i));
  f.end_run("list7", true);
  ListStats stats;
  stats.items = {{"length", 3}, {"free", 2}};
  stats.cycle = WallTime(90'000);
  stats.at = WallTime(1'800'000'000'000);
  f.control.lists["list8"].stats = stats;
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->count("ready") == 1; }));
  CHECK(f.hub.listens());
  CHECK(page->count("snapshot") == 1);
  CHECK(page->text.find(std::string(page_mark)) != std::string::npos);
  CHECK(page->text.find("\"list\":\"list99\"") != std::string::npos);
  CHECK(page->text.find(",1,1]]}") != std::string::npos);  // run count of list7
  CHECK(page->text.find("\"host\":\"alpha\"") != std::string::npos);
  CHECK(page->text.find(R"("items":{"length":3,"free":2},"cycle_ms":90000)") != std::string::npos);
  // The same data again causes no change.
  page->text.clear();
  f.control.lists["list8"].stats->at += WallTime(1);
  f.hub.on_event(ListChanged{"list8", ListState::idle, ""});
  f.control.lists["list9"].why = "another";
  f.hub.on_event(ListChanged{"list9", ListState::idle, "another"});
  REQUIRE(f.until([&] { return page->text.find("another") != std::string::npos; }));
  CHECK(page->text.find("list8") == std::string::npos);

  page->text.clear();
  f.control.lists["list3"].state = ListState::ineligible;
  f.control.lists["list3"].why = "lacks \"gpu\"";
  f.hub.on_event(ListChanged{"list3", ListState::ineligible, "lacks \"gpu\""});
  REQUIRE(f.until([&] { return page->count("change") > 0; }));
  CHECK(page->text.find("\"state\":\"ineligible\"") != std::string::npos);
  CHECK(page->text.find("list4") == std::string::npos);

  page->text.clear();
  f.control.lists.erase("list3");
  f.hub.on_event(ListChanged{"list3", ListState::idle, ""});
  REQUIRE(f.until([&] { return page->text.find("\"removed\"") != std::string::npos; }));
  CHECK(page->text.find(R"("removed":[{"list":"list3"}])") != std::string::npos);
}

TEST_CASE("a page receives changes at most four times per second, and only the latest values") {
  LiveFixture f;
  f.control.add("busy");
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->count("ready") == 1; }));
  page->text.clear();
  const Instant started = f.loop.now();
  double numerator = 0;
  while (f.loop.now() < started + 700ms) {
    for (int i = 0; i < 100; ++i) {
      RunStatus run;
      run.run = "01RUN";
      run.progress = Progress{++numerator, 1e6};
      f.control.lists["busy"].runs = {run};
      f.hub.on_event(RunProgressed{{"busy", "01RUN", "item"}, *run.progress});
    }
    turn_for(f.loop, 1ms);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(f.loop.now() - started);
  REQUIRE(f.until([&] {
    return page->text.find("\"numerator\":" + view::real_json(numerator)) != std::string::npos;
  }));
  const auto most = static_cast<std::size_t>((f.loop.now() - started) / 250ms + 2);
  CAPTURE(took.count());
  CHECK(page->count("change") <= most);
  CHECK(f.control.queries <= static_cast<int>(most));
}

TEST_CASE("many pages share their queries") {
  LiveFixture f;
  for (int i = 0; i < 50; ++i) f.control.add("list" + std::to_string(i));
  std::vector<std::shared_ptr<PageStream>> pages;
  for (int i = 0; i < 16; ++i) pages.push_back(f.open());  // half of the pool: without the token
  REQUIRE(f.until([&] {
    return std::ranges::all_of(pages, [](const auto& page) { return page->count("ready") == 1; });
  }));
  CHECK(f.control.walks <= 2);
  PageReply late;
  f.hub.subscribe(late, {});
  CHECK(late.status == 503);
  std::vector<PageReply> local(17);
  for (PageReply& reply : local) {
    reply.is_trusted = true;
    f.hub.subscribe(reply, {});
  }
  CHECK(local[15].status == 200);
  CHECK(local[16].status == 503);
  pages[3]->gone = true;
  f.control.lists["list3"].state = ListState::paused;
  f.hub.on_event(ListChanged{"list3", ListState::paused, ""});
  REQUIRE(f.until([&] { return pages[0]->text.find("\"paused\"") != std::string::npos; }));
  PageReply next;
  f.hub.subscribe(next, {});
  CHECK(next.status == 200);
}

TEST_CASE("a snapshot states whether the client may send commands") {
  LiveFixture f;
  const auto commands = [&](bool trusted) {
    PageReply reply;
    reply.is_trusted = trusted;
    f.hub.subscribe(reply, {});
    REQUIRE(f.until([&] { return reply.opened->count("ready") == 1; }));
    const auto at = reply.opened->text.find("\"commands\":\"");
    REQUIRE(at != std::string::npos);
    const auto from = at + 12;
    return reply.opened->text.substr(from, reply.opened->text.find('"', from) - from);
  };
  CHECK(commands(true) == "yes");
  CHECK(commands(false) == "no");
  f.control.token = true;
  CHECK(commands(false) == "token");
}

TEST_CASE("a page that reconnects receives the changes that it missed, or a snapshot") {
  LiveFixture f;
  f.control.add("a");
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->count("ready") == 1; }));
  f.end_run("a", false);
  REQUIRE(f.until([&] { return page->count("change") >= 1; }));
  const std::string seen = page->last_id();
  CHECK(seen.starts_with("0123abcd-"));
  page->gone = true;
  f.control.lists["a"].why = "missed";
  f.hub.on_event(ListChanged{"a", ListState::idle, "missed"});
  turn_for(f.loop, 400ms);
  const auto back = f.open(seen);
  CHECK(back->count("snapshot") == 0);
  CHECK(back->text.find("missed") != std::string::npos);
  const std::string now = back->last_id();
  back->text.clear();
  f.control.lists["a"].why = "next";
  f.hub.on_event(ListChanged{"a", ListState::idle, "next"});
  REQUIRE(f.until([&] { return back->text.find("next") != std::string::npos; }));
  for (const std::string& other : {std::string("ffffffff-1"), std::string("0123abcd-999999"),
                                   std::string("0123abcd-x"), std::string("-")}) {
    CAPTURE(other);
    const auto fresh = f.open(other);
    REQUIRE(f.until([&] { return fresh->count("ready") == 1; }));
    CHECK(fresh->count("snapshot") == 1);
  }
}

TEST_CASE("a page that reads slowly receives 10,000 lists in pieces") {
  LiveFixture f;
  for (int i = 0; i < 10'000; ++i) f.control.add("a-list-with-a-longer-name-" + std::to_string(i));
  PageReply reply;
  reply.opened->reads = false;
  f.hub.subscribe(reply, {});
  const auto page = reply.opened;
  REQUIRE(f.until([&] { return page->count("part") > 0; }));
  CHECK(page->unread < 300'000);
  CHECK(page->count("ready") == 0);
  while (page->count("ready") == 0) {
    page->unread = 0;
    turn_for(f.loop, 5ms);
    REQUIRE(page->unread < 300'000);
  }
  CHECK(page->text.find("name-9999\"") != std::string::npos);
}

TEST_CASE("a list changed by an operator is queried at once") {
  LiveFixture f;
  f.control.add("a");
  f.fleet.changed();
  turn_for(f.loop, 20ms);
  CHECK(f.control.refreshed == 0);  // no page is open
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->count("ready") == 1 && f.control.refreshed >= 1; }));
  turn_for(f.loop, 100ms);
  const int before = f.control.refreshed;
  // Without the change, the next query would follow within 15 s.
  Pause pause;
  pause.reason = "moving house";
  f.control.lists["a"].pause = pause;
  const Instant started = f.loop.now();
  f.fleet.changed();
  REQUIRE(f.until([&] { return page->text.find("moving house") != std::string::npos; }));
  CHECK(f.control.refreshed > before);
  CHECK(f.loop.now() - started < 10s);
}

}  // namespace page_test
