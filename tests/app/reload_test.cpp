#include "app/reload.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace reload_test {
namespace {

using Kind = api::CommandResult::Kind;

ConfigPtr config(const std::string& hash, const std::string& redis = "unix:///a") {
  auto made = std::make_shared<Config>();
  made->hash = hash;
  made->supervisor.host = redis;  // stands for all settings of a connection
  return made;
}

/// Host with one config. Each step ends when the test requests it, or at once.
struct Fixture : Time, ReloadSteps, EventHandler {
  ConfigPtr running = config("old");
  std::uint64_t generation_now = 1;
  ConfigPtr file = config("new");  ///< nullptr: the file has an error
  bool held = false;               ///< true: steps wait for the test
  std::string no_connection;
  std::string not_ready;
  std::function<void()> in_prepare;

  Lines done;  ///< calls of the steps
  Lines told;
  std::vector<ConfigPtr> discarded;
  Read read_then;
  Connected connect_then;
  Applied apply_then;
  ConfigPtr to_apply;

  Reload reload{clock, timers, "/etc/w8y.toml", *this, *this};

  [[nodiscard]] ConfigPtr in_force() const override { return running; }
  [[nodiscard]] std::uint64_t generation() const override { return generation_now; }
  void read(ConfigPtr, Read then) override {
    done.push_back("read");
    read_then = std::move(then);
    if (!held) answer_read();
  }
  [[nodiscard]] bool same_connection(const Config& a, const Config& b) const override {
    return a.supervisor.host == b.supervisor.host;
  }
  void connect(const Config& wanted, Connected then) override {
    done.push_back("connect " + wanted.supervisor.host);
    connect_then = std::move(then);
    if (!held) connect_then(no_connection);
  }
  std::string prepare(const Config&, const Config&) override {
    done.push_back("prepare");
    if (in_prepare) in_prepare();
    return not_ready;
  }
  void apply(ConfigPtr wanted, Applied then) override {
    done.push_back("apply " + wanted->hash);
    to_apply = std::move(wanted);
    apply_then = std::move(then);
    if (!held) answer_apply();
  }
  void abandon() override { done.push_back("abandon"); }
  void discard(ConfigPtr gone) override { discarded.push_back(std::move(gone)); }

  void answer_read() {
    config::LoadResult result;
    result.config = file;
    if (!file) result.errors = {"w8y.toml:1:1: bad"};
    read_then(std::move(result));
  }
  void answer_apply() {
    running = to_apply;
    ++generation_now;
    ReloadPlan plan;
    plan.supervisor.push_back({"host_concurrency", "1", "2", false});
    apply_then(plan);
  }

  void on_event(const Event& event) override {
    if (std::holds_alternative<ReloadStarted>(event)) told.push_back("begun");
    if (const auto* refused = std::get_if<ReloadNotStarted>(&event))
      told.push_back("refused: " + std::string(refused->why));
    if (const auto* over = std::get_if<Reloaded>(&event))
      told.push_back(std::string(over->applied ? "applied " : "failed ") +
                     std::to_string(over->generation) + ": " + std::string(over->text));
  }

  /// Requests a reload. Its reply goes to `answers`.
  void ask(const std::string& who) {
    reload.request([this, who](const api::CommandResult& result) {
      answers.push_back(who +
                        (result.kind == Kind::done      ? " done: "
                         : result.kind == Kind::invalid ? " invalid: "
                         : result.kind == Kind::refused ? " refused: "
                                                        : " ?: ") +
                        result.text);
      lines = result.lines;
    });
  }
  Lines answers;
  Lines lines;
};

struct Started : Fixture {
  Started() { reload.started(); }
};

constexpr const char* drains = "this host is draining; nothing was changed";

}  // namespace

TEST_CASE("a reload reads, prepares and applies the config, and replies") {
  Started f;
  f.ask("a");
  CHECK(f.done == Lines{"read", "prepare", "apply new"});
  CHECK(f.answers == Lines{"a done: reloaded: 1 change"});
  CHECK(f.lines.size() == 1);
  CHECK(f.told == Lines{"begun", "applied 2: 1 change"});
  CHECK(f.reload.state() == ReloadState::idle);
  CHECK(f.reload.last().text == "1 change");
  CHECK_FALSE(f.reload.last().failed);
  REQUIRE(f.discarded.size() == 1);
  CHECK(f.discarded.front()->hash == "old");
}

TEST_CASE("a reload may have no caller that waits for the reply") {
  Started f;
  f.reload.request({});
  CHECK(f.running->hash == "new");
}

TEST_CASE("a reload with a new connection opens it before it prepares anything") {
  Started f;
  f.file = config("new", "unix:///b");
  f.held = true;
  f.ask("a");
  CHECK(f.reload.state() == ReloadState::reading);
  f.answer_read();
  CHECK(f.reload.state() == ReloadState::connecting);
  CHECK(f.done == Lines{"read", "connect unix:///b"});
  f.connect_then({});
  CHECK(f.reload.state() == ReloadState::applying);
  CHECK(f.done == Lines{"read", "connect unix:///b", "prepare", "apply new"});
  f.answer_apply();
  CHECK(f.reload.state() == ReloadState::idle);
}

TEST_CASE(
    "a failed step keeps the current config, and the next reload starts from the first step") {
  Started f;
  std::string why;
  Lines steps;
  SUBCASE("the file has errors") {
    f.file = nullptr;
    why = "the config has errors; nothing was changed";
    steps = {"read", "abandon"};
  }
  SUBCASE("the new connection fails") {
    f.file = config("new", "unix:///b");
    f.no_connection = "no answer";
    why = "the new Redis is unavailable (no answer); nothing was changed";
    steps = {"read", "connect unix:///b", "abandon"};
  }
  SUBCASE("the host cannot be prepared") {
    f.not_ready = "the status address cannot be had";
    why = "the status address cannot be had; nothing was changed";
    steps = {"read", "prepare", "abandon"};
  }
  f.ask("a");
  CHECK(f.done == steps);
  CHECK(f.running->hash == "old");
  CHECK(f.answers == Lines{"a invalid: " + why});
  CHECK(f.told == Lines{"begun", "failed 1: " + why});
  CHECK(f.reload.last().failed);
  CHECK(f.reload.last().text == "failed: " + (f.file ? why : "w8y.toml:1:1: bad"s));
  CHECK(f.reload.state() == ReloadState::idle);
  CHECK(f.discarded.size() == (f.file ? 1 : 0));

  f.file = config("newer");
  f.no_connection.clear();
  f.not_ready.clear();
  f.ask("b");
  CHECK(f.running->hash == "newer");
  CHECK_FALSE(f.reload.last().failed);
}

TEST_CASE("config errors are part of the reply") {
  Started f;
  f.file = nullptr;
  f.ask("a");
  CHECK(f.lines == Lines{"w8y.toml:1:1: bad"});
}

TEST_CASE("requests during a reload cause one more reload after it, in each state") {
  Started f;
  f.file = config("new", "unix:///b");
  f.held = true;
  f.ask("first");
  SUBCASE("reading") {
    f.ask("a");
    f.ask("b");
    f.answer_read();
    f.connect_then({});
    f.answer_apply();
  }
  SUBCASE("connecting") {
    f.answer_read();
    f.ask("a");
    f.ask("b");
    f.connect_then({});
    f.answer_apply();
  }
  SUBCASE("preparing") {
    f.in_prepare = [&f] {
      CHECK(f.reload.state() == ReloadState::preparing);
      f.ask("a");
      f.ask("b");
    };
    f.answer_read();
    f.connect_then({});
    f.in_prepare = nullptr;
    f.answer_apply();
  }
  SUBCASE("applying") {
    f.answer_read();
    f.connect_then({});
    f.ask("a");
    f.ask("b");
    f.answer_apply();
  }
  CHECK(f.answers == Lines{"first done: reloaded: 1 change"});
  CHECK(f.reload.state() == ReloadState::due);
  f.ask("c");  // the file has not been read again yet
  f.held = false;
  f.file = config("newer", "unix:///b");
  f.turn();
  CHECK(f.reload.state() == ReloadState::idle);
  CHECK(f.running->hash == "newer");
  CHECK(f.answers == Lines{"first done: reloaded: 1 change", "a done: reloaded: 1 change",
                           "b done: reloaded: 1 change", "c done: reloaded: 1 change"});
  CHECK(count(f.done, "read") == 2);
}

TEST_CASE("requests during a failing reload cause one more reload after it") {
  Started f;
  f.held = true;
  f.ask("first");
  f.ask("a");
  f.file = nullptr;
  f.answer_read();
  f.file = config("new");
  f.held = false;
  f.turn();
  CHECK(f.answers == Lines{"first invalid: the config has errors; nothing was changed",
                           "a done: reloaded: 1 change"});
}

TEST_CASE("a request from within a reply starts another reload") {
  Started f;
  f.reload.request([&f](const api::CommandResult&) { f.ask("next"); });
  CHECK(f.answers == Lines{"next done: reloaded: 1 change"});
}

TEST_CASE("a reload requested before the first config is applied waits for it") {
  Fixture f;
  f.ask("early");
  CHECK(f.reload.state() == ReloadState::starting);
  CHECK(f.done.empty());
  f.reload.started();
  CHECK(f.reload.state() == ReloadState::due);
  f.turn();
  CHECK(f.answers == Lines{"early done: reloaded: 1 change"});
}

TEST_CASE("a drain abandons the active reload, and refuses all requests") {
  Started f;
  f.file = config("new", "unix:///b");
  f.held = true;
  f.ask("first");
  const auto later = [&f] {  // later replies have no effect
    f.answer_read();
    if (f.connect_then) f.connect_then({});
    if (f.apply_then) f.apply_then({});
  };
  SUBCASE("reading") {}
  SUBCASE("connecting") {
    f.answer_read();
  }
  SUBCASE("applying") {
    f.answer_read();
    f.connect_then({});
  }
  f.ask("second");
  const Lines before = f.done;
  f.reload.close();
  CHECK(f.reload.state() == ReloadState::closed);
  CHECK(f.answers ==
        Lines{std::string("first refused: ") + drains, std::string("second refused: ") + drains});
  CHECK(f.done.size() == before.size() + 1);
  CHECK(f.done.back() == "abandon");
  later();
  f.turn();
  CHECK(f.done.size() == before.size() + 1);
  CHECK(f.running->hash == "old");
  CHECK(f.told == Lines{"begun"});

  f.ask("late");
  CHECK(f.answers.back() == "late refused: this host is draining");
  CHECK(f.told.back() == "refused: this host is draining");
}

TEST_CASE("a drain cancels a reload that is due") {
  Fixture f;
  f.ask("early");
  f.reload.started();
  f.reload.close();
  f.turn();
  CHECK(f.done.empty());
  CHECK(f.answers == Lines{std::string("early refused: ") + drains});
}

TEST_CASE("a second report of a new connection has no effect") {
  Started f;
  f.file = config("new", "unix:///b");
  f.held = true;
  f.ask("a");
  f.answer_read();
  f.connect_then({});
  f.connect_then("gone");  // breaks during probes; a connection in use reports that itself
  CHECK(f.reload.state() == ReloadState::applying);
  f.answer_apply();
  CHECK(f.answers == Lines{"a done: reloaded: 1 change"});
}

TEST_CASE("a config from standard input cannot be reloaded") {
  Fixture f;
  Reload reload(f.clock, f.timers, "-", f, f);
  reload.started();
  reload.request([&f](const api::CommandResult& result) { f.answers.push_back(result.text); });
  CHECK(f.answers == Lines{"the config came from standard input: there is no file to read"});
  CHECK(f.done.empty());
}

TEST_CASE("a destroyed reload ignores the ends of its steps") {
  Fixture f;
  f.held = true;
  {
    Reload reload(f.clock, f.timers, "/etc/w8y.toml", f, f);
    reload.started();
    reload.request({});
  }
  f.answer_read();
  CHECK(f.done == Lines{"read"});
}

}  // namespace reload_test
