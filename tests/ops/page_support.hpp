// Live hub with a fake host and fleet, and clients of its stream.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops_support.hpp"
#include "page/live_fleet.hpp"
#include "page/live_hub.hpp"
#include "view/list_view.hpp"

// Declares the namespaces of the using-directives below, because a test may include headers of only
// some of them.
namespace w8y::http {}
namespace w8y::api {}
namespace w8y::page {}

namespace w8y::ops::test {

using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

using namespace std::chrono_literals;

struct PageControl : Control {
  HostStatus host;
  std::map<std::string, ListStatus> lists;
  int refreshed = 0;
  int walks = 0;
  int queries = 0;
  bool token = false;

  PageControl() {
    host.host = "alpha";
    host.host_id = "alpha-0123abcd";
    host.state = HostState::running;
    host.redis.connected = true;
  }
  void add(const std::string& prefix) {
    ListStatus list;
    list.prefix = prefix;
    list.state = ListState::idle;
    lists[prefix] = list;
  }
  void refresh(std::function<void()> then) override {
    ++refreshed;
    then();
  }
  [[nodiscard]] HostStatus status() const override { return host; }
  [[nodiscard]] std::string stuck() const override { return {}; }
  void each_list(std::function<void(const ListStatus&)> look, std::function<void()> then) override {
    ++walks;
    for (const auto& [prefix, list] : lists) look(list);
    then();
  }
  [[nodiscard]] std::optional<ListStatus> list(const std::string& prefix) const override {
    ++const_cast<PageControl*>(this)->queries;
    const auto found = lists.find(prefix);
    return found == lists.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] ConfigText config_text(const std::string*) const override { return {}; }
  [[nodiscard]] bool has_token() const override { return token; }
  [[nodiscard]] SecretAnswer compare_secret(const SecretQuestion&,
                                            const std::string&) const override {
    return SecretAnswer::none;
  }
  CommandResult quiet() override { return {}; }
  CommandResult resume() override { return {}; }
  CommandResult drain() override { return {}; }
  void reload(Answer) override {}
  CommandResult cancel(const RunId&) override { return {}; }
  void run_item(const std::string&, const Item&, Answer) override {}
};

struct PageFleet : FleetControl {
  FleetView view;
  std::map<std::string, std::vector<std::pair<std::int64_t, std::string>>> minutes;  ///< by host ID
  int queries = 0;
  std::size_t at_once = 3;             ///< number of hosts whose details fit into one reply
  std::vector<view::HostWish> wishes;  ///< all requests

  void read(Seen then) override {
    ++queries;
    then(glance_of(view));
  }
  /// Replies later, from the loop, as a query thread does.
  void lists(std::optional<std::string> /*list*/, Listed then) override { then({}); }

  void details(std::vector<view::HostWish> asked, Detailed then) override {
    wishes.insert(wishes.end(), asked.begin(), asked.end());
    asked.resize(std::min(asked.size(), at_once));
    reply_.set(loop.now(), [this, asked = std::move(asked), then = std::move(then)] {
      std::vector<view::HostDetails> hosts;
      for (const view::HostWish& wish : asked) hosts.push_back(details_of(wish));
      then(std::move(hosts));
    });
  }
  view::HostDetails details_of(const view::HostWish& wish) {
    view::HostDetails host;
    host.id = wish.id;
    for (const FleetHost& one : view.hosts)
      for (const ListStatus& list : one.lists)
        if (wish.rows && one.heartbeat.id == wish.id)
          host.rows.emplace_back(list.prefix, view::to_json(list, view::fleet_page));
    if (wish.minutes > 0) host.minutes = minutes[wish.id];
    return host;
  }
  void send(FleetCommand, Sent then) override { then({}); }
  void follow(const std::string&, HttpReplyPtr) override {}
  void when_changed(std::function<void()> then) override { changed = std::move(then); }
  explicit PageFleet(loop::Loop& on) : loop(on), reply_(on.timers()) {}

  loop::Loop& loop;
  std::function<void()> changed;

 private:
  Timer reply_;
};

/// Client of the stream that reads at once, or not at all.
struct PageStream : HttpStream {
  std::string text;
  std::size_t unread = 0;
  bool reads = true;
  bool gone = false;

  bool push(std::string_view bytes) override {
    if (gone) return false;
    text += bytes;
    if (!reads) unread += bytes.size();
    return true;
  }
  void close() override { gone = true; }
  [[nodiscard]] std::size_t owed() const override { return reads ? 0 : unread; }

  [[nodiscard]] std::size_t count(const std::string& event) const {
    std::size_t found = 0;
    for (auto at = text.find("event: " + event + "\n"); at != std::string::npos;
         at = text.find("event: " + event + "\n", at + 1))
      ++found;
    return found;
  }
  [[nodiscard]] std::string last_id() const {
    const auto at = text.rfind("\nid: ");
    return at == std::string::npos ? "" : text.substr(at + 5, text.find('\n', at + 5) - at - 5);
  }
};

struct PageReply : HttpReply {
  bool is_trusted = false;
  std::shared_ptr<PageStream> opened = std::make_shared<PageStream>();
  unsigned status = 0;

  void send(HttpResponse response) override { status = response.status; }
  std::shared_ptr<HttpStream> stream(std::string, std::string) override {
    status = 200;
    return opened;
  }
  [[nodiscard]] bool trusted() const override { return is_trusted; }
};

struct LiveFixture {
  std::shared_ptr<PageStream> open(const std::string& last = {}) {
    PageReply reply;
    hub.subscribe(reply, last);
    return reply.opened;
  }
  void end_run(const std::string& prefix, bool failed) {
    const Outcome outcome = failed ? Outcome(Failed{}) : Outcome(Succeeded{});
    hub.on_event(RunEnded{{prefix, "01RUN", "item"}, outcome, 1s, 1, 0});
  }
  bool until(const std::function<bool()>& fact) { return turn_until(loop, fact); }

  loop::Loop loop;
  PageControl control;
  PageFleet fleet{loop};
  RunsPerMinute hour;
  LiveHub hub{loop, control, fleet, hour};
};

}  // namespace w8y::ops::test
