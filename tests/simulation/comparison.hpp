// Comparison of the model's keys, commands and Lua with a real redis-server. Both get the same
// random calls and steps of time. After each of them, the replies and all keys are compared.
//
// The scripts get the virtual time instead of the time of Redis. Keys of the real server live as
// long as in the model, in thousands of seconds, so that none expires during the test.
#pragma once

#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/sync.hpp"
#include "simulation/lua.hpp"
#include "simulation/random.hpp"
#include "simulation/transactions.hpp"
#include "support/redis_server.hpp"

namespace w8y::sim {

/// Unit of lifetimes, in ms. It takes the place of one second.
constexpr std::int64_t unit_ms = 1'000'000;
/// Tolerance of remaining lifetimes, which two clocks measure.
constexpr std::int64_t tolerance_ms = unit_ms * 2 / 5;
/// Position of the lifetime in a reply without one.
constexpr std::size_t no_time = 1000;

struct Dumped {
  std::string kind;
  std::int64_t ttl = -1;
  Words what;
  bool operator==(const Dumped& other) const {
    return kind == other.kind && what == other.what && (ttl < 0) == (other.ttl < 0) &&
           std::abs(ttl - other.ttl) <= tolerance_ms;
  }
};
using Dump = std::map<std::string, Dumped>;

class Comparison final : private Keys::Listener {
 public:
  explicit Comparison(std::uint64_t seed)
      : random_(seed),
        of_schedules_(random_.fork(1)),
        of_jobs_(random_.fork(3)),
        of_commands_(random_.fork(2)),
        of_transactions_(random_.fork(4)),
        of_looks_(random_.fork(5)),
        redis_(loop_, options()),
        subscriber_(loop_, options()),
        connections_{{{{loop_, options()}, {}}, {{loop_, options()}, {}}}} {
    keys_.listener = this;
    keys_.now_us = 1'800'000'000'000'000;
    redis_.call({"ZADD", "scores", "0.1", "tenth"});
    keys_.short_scores = redis_.call({"ZSCORE", "scores", "tenth"}).text == "0.1";
    redis_.call({"DEL", "scores"});
    Words channels{"w:events",  "w:wake",  "s:events", "s:wake",          "feed:events",
                   "feed:wake", "newfeed", "conffeed", "job.finish:feed", "delfeed"};
    for (int host = 1; host <= hosts; ++host) channels.push_back("w:wake:" + holder_of(host));
    for (const auto& more : {feed_channels(), key_channels()})
      channels.insert(channels.end(), more.begin(), more.end());
    channels_.insert(channels.begin(), channels.end());
    for (const std::string& channel : channels)
      subscriptions_.push_back(subscriber_.subscribe(
          channel,
          [this](std::string_view from, std::string_view text) {
            received_.push_back({std::string(from), std::string(text)});
          },
          [this] { ++confirmed_; }));
    wait([&] { return confirmed_ == std::ssize(channels); }, "the channels");
    set_keyspace_events(true);
  }

  /// Runs one step of each kind of list, on keys of its own, and one with any command.
  void step() {
    ++steps_;
    in_turn("w", &Comparison::circular_step);
    in_turn("s", &Comparison::schedule_step);
    in_turn("feed", &Comparison::job_step);
    in_turn("w", &Comparison::query_step);
    in_turn("feed", &Comparison::feed_step);
    in_turn("p", &Comparison::command_step);
    in_turn("p", &Comparison::transaction_step);
  }
  void compare_news();
  [[nodiscard]] std::string first_difference() const;

 private:
  redis::ClientOptions options() {
    redis::ClientOptions options;
    options.url = redis::parse_url(server_.url());
    options.connect_timeout = options.command_timeout = std::chrono::seconds(60);
    return options;
  }
  template <typename Until>
  void wait(Until until, const std::string& what) {
    const Instant end = loop_.now() + std::chrono::seconds(60);
    Timer limit(loop_.timers());
    limit.set(end, [] {});
    while (!until()) {
      if (loop_.now() > end) throw std::runtime_error(what + ": nothing after 60 s");
      loop_.iterate(true);
    }
  }

  /// Runs a step that changes only keys with this prefix. Other keys are compared when time passes.
  void in_turn(const char* prefix, void (Comparison::*change)()) {
    prefix_ = prefix;
    (this->*change)();
    prefix_.clear();
  }
  /// Runs a script on both. The number at `time_at` of the reply is a lifetime in ms.
  void lua(const redis::Script& script, const Words& key, const Words& arg, std::size_t time_at);
  /// Runs a command on both and compares the replies and all keys.
  Value both(const Words& words);
  /// Runs a command on Redis after the model, and compares the replies and all keys.
  void compare_reply(const Words& words, const Value& expected, redis::SyncClient& real,
                     bool of_all);
  void pass(std::int64_t ms);
  void compare_keys(const std::string& after);
  Dump real_keys();
  Dump model_keys();
  void claim_some();
  void claim_one();
  void settle_some();
  void renew_some();
  void undo_some();
  void query_list();
  void sweep_all();
  void order();
  void add_or_remove();
  void user();
  void circular_step();

  // comparison_schedules.cpp
  void schedule_step();
  void set_schedules();
  void dispatch();
  void claim_jobs();
  void end_job();
  void renew_jobs();
  void recover_jobs();
  void change_schedule();
  void spoil(Random& random, const Words& keys);
  std::string job();
  // comparison_jobs.cpp
  void job_step();
  void put_feed_jobs();
  void claim_feed_jobs();
  void end_feed_jobs();
  void renew_feed_jobs();
  void recover_feed_jobs();
  void maintain_feed();
  void change_feed_jobs();
  void change_feed();
  std::string job_id();
  // comparison_commands.cpp
  void command_step();
  Words any_command(Random& random);
  // comparison_queries.cpp
  /// The same as lua(), for scripts that return or store remaining lifetimes.
  void lua_in_units(const redis::Script& script, const Words& key, const Words& arg);
  void query_step();
  void feed_step();
  void news_step();
  void sorted_step();
  std::string news_id();
  static Words feed_channels();
  // comparison_events.cpp
  static Words key_channels();
  void set_keyspace_events(bool on);
  void touched(const std::string& key, const char* event) override;
  [[nodiscard]] std::int64_t hearers(const std::string& channel) const override {
    return channels_.contains(channel) ? 1 : 0;
  }
  // comparison_commands.cpp
  struct Connection {
    redis::SyncClient real;
    Transaction model;
  };
  Value on(Connection& connection, const Words& words);
  void leave_transactions();
  void transaction_step();

  std::string item() { return "item" + std::to_string(random_.below(14)); }
  std::string lock(const std::string& of) { return "w:lock:" + of; }
  static constexpr int hosts = 3;
  static std::string holder_of(int host) { return "run:h" + std::to_string(host) + ":1:"; }
  std::string holder() { return holder_of(1 + static_cast<int>(random_.below(hosts))); }
  std::string run_id() {
    std::string id = std::to_string(++runs_);
    return std::string(26 - id.size(), '0') + id;
  }
  /// Returns the fence of a caller that has seen none, or one from a server whose clock is ahead.
  std::string seen_fence(Random& random) {
    return random.chance(80) ? "0" : std::to_string(keys_.now_us + 1'000'000);
  }
  /// Returns the limits of a breaker; empty: the list has none.
  std::string limits_of_breaker(Random& random) {
    const std::string pauses = ' ' + ms(1) + ' ' + ms(3);
    return random.one_of<std::string>({"", "1 2" + pauses, "2 3" + pauses, "3 4" + pauses});
  }
  std::string ms(std::int64_t units) { return std::to_string(units * unit_ms); }

  struct Run {
    std::string holder;
    std::string id;
    std::string item;
  };

  /// Claimed job of a schedule.
  struct Taken {
    std::string job;
    std::string tag;
    std::string run;
    std::string holder;
  };

  Random random_;
  Random of_schedules_;
  Random of_jobs_;
  Random of_commands_;
  Random of_transactions_;
  Random of_looks_;
  test::RedisServer server_;
  loop::Loop loop_;
  redis::SyncClient redis_;
  redis::Subscriber subscriber_;
  std::array<Connection, 2> connections_;
  std::vector<redis::Subscription> subscriptions_;
  std::set<std::string> channels_;  ///< of subscriptions_
  int confirmed_ = 0;
  Keys keys_;
  std::vector<Published> received_;
  std::vector<Published> published_;
  bool keyspace_events_ = false;  ///< keyspace notifications are on
  std::vector<Run> held_;
  std::vector<Taken> taken_;
  std::vector<Run> claimed_;             ///< jobs of the feed
  std::map<std::string, Words> spoilt_;  ///< keys of a wrong type, by prefix
  std::int64_t left_ = -1;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::string prefix_;  ///< of the keys that are compared
};

}  // namespace w8y::sim
