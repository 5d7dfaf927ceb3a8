#include "api/event_hub.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "ops_support.hpp"
#include "server_sent_events.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;

namespace event_hub_test {
namespace {

/// Text that a client has received, and whether its stream is open.
struct FakeStream : HttpStream {
  std::string text;
  bool open = true;
  bool push(std::string_view bytes) override {
    if (open) text += bytes;
    return open;
  }
  void close() override { open = false; }
};

struct FakeReply : HttpReply {
  bool is_trusted = false;
  std::shared_ptr<FakeStream> opened = std::make_shared<FakeStream>();
  HttpResponse answer;
  void send(HttpResponse response) override { answer = std::move(response); }
  std::shared_ptr<HttpStream> stream(std::string, std::string) override { return opened; }
  [[nodiscard]] bool trusted() const override { return is_trusted; }
};

struct Hub {
  loop::Loop loop;
  EventHub hub;

  explicit Hub(Duration timeout = 1min) : hub(loop, "a1b2", timeout) {}

  std::shared_ptr<FakeStream> join(const std::string& last = {}, EventFilter filter = {}) {
    FakeReply reply;
    hub.subscribe(reply, std::move(filter), last);
    return reply.opened;
  }
  void start(std::string_view run, std::string_view list = "work") {
    hub.on_event(RunStarted{{list, run, "item"}, 7, 1, 5});
  }
};

std::vector<std::string> names_in(const FakeStream& stream) {
  std::vector<std::string> names;
  for (const auto& event : events_in(stream.text)) names.push_back(event.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a client that reconnects receives each missed event once, according to its filter") {
  Hub f;
  const auto first = f.join();
  CHECK(first->text.find("id: a1b2.0\n") != std::string::npos);
  f.start("01");
  first->close();
  f.start("02");
  f.start("03", "other");
  CHECK(f.hub.subscribers() == 0);
  const std::string last = events_in(first->text).back().id;
  CHECK(last == "a1b2.1");

  const auto again = f.join(last);
  CHECK(names_in(*again) == Names{"start", "start"});
  CHECK(events_in(again->text).back().id == "a1b2.3");
  CHECK(names_in(*f.join("a1b2.3")).empty());
  CHECK(names_in(*f.join("a1b2.0", {"other", {}})) == Names{"start"});
  const auto of_run = f.join("a1b2.0", {{}, "02"});
  CHECK(names_in(*of_run) == Names{"start"});
  f.start("04");
  f.start("02");
  f.hub.on_event(HostChanged{HostState::quiet, ""});
  CHECK(names_in(*of_run) == Names{"start", "start", "host"});
  CHECK(names_in(*again).size() == 5);
}

TEST_CASE("a client that has missed too much receives a reset event, then later events") {
  Hub f;
  const auto first = f.join();
  const std::string long_text(1000, 'x');
  for (int i = 0; i < 300; ++i) f.hub.on_event(HostChanged{HostState::running, long_text});
  f.start("last");
  const auto reset = Names{"reset"};
  CHECK(names_in(*f.join("a1b2.1")) == reset);    // no longer kept
  CHECK(names_in(*f.join("a1b2.302")) == reset);  // never sent
  CHECK(names_in(*f.join("ffff.301")) == reset);  // of another start of w8yd
  CHECK(names_in(*f.join("301")) == reset);
  CHECK(names_in(*f.join("a1b2.301x")) == reset);
  CHECK(names_in(*f.join("a1b2.300")) == Names{"start"});
  const auto back = f.join("nonsense\r\n");
  f.start("next");
  CHECK(names_in(*back) == Names{"reset", "start"});
  CHECK(events_in(back->text).front().id == "a1b2.301");
}

TEST_CASE("events are kept after the last subscriber has left, for a limited time") {
  Hub f(5ms);
  CHECK_FALSE(f.hub.listens());
  const auto stream = f.join();
  f.start("01");
  stream->close();
  f.start("02");
  CHECK(f.hub.listens());  // the subscriber may reconnect
  CHECK(turn_until(f.loop, [&] { return !f.hub.listens(); }));
  f.start("03");
  // The events since then have no numbers, but the client has missed them.
  CHECK(names_in(*f.join("a1b2.2")) == Names{"reset"});
}

TEST_CASE("untrusted clients have half of the event streams") {
  Hub f;
  std::vector<std::shared_ptr<FakeStream>> open;
  const auto join = [&](bool trusted) {
    FakeReply reply;
    reply.is_trusted = trusted;
    f.hub.subscribe(reply, {});
    if (reply.answer.status == 200) open.push_back(reply.opened);
    return reply.answer.status;
  };
  for (int i = 0; i < 8; ++i) CHECK(join(false) == 200);
  CHECK(join(false) == 503);
  for (int i = 0; i < 8; ++i) CHECK(join(true) == 200);
  CHECK(join(true) == 503);
  // One trusted and one untrusted client disconnect, which the next event detects.
  open.front()->close();
  open.back()->close();
  f.hub.on_event(HostChanged{HostState::running, ""});
  CHECK(f.hub.subscribers() == 14);
  CHECK(join(false) == 200);
  CHECK(join(false) == 503);
  CHECK(join(true) == 200);
  CHECK(join(true) == 503);
}

}  // namespace event_hub_test
