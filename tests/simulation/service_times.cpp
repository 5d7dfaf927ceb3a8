#include "simulation/service_times.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/sync.hpp"
#include "simulation/keys.hpp"
#include "store/scripts.hpp"
#include "support/redis_server.hpp"

namespace w8y::sim {

namespace {

namespace lua = store::scripts;

struct Call {
  Words key;
  Words arg;
};

redis::ClientOptions options_of(const test::RedisServer& server) {
  redis::ClientOptions options;
  options.url = redis::parse_url(server.tcp_url());
  options.connect_timeout = options.command_timeout = std::chrono::seconds(60);
  return options;
}

test::RedisServer::Options with_tcp() {
  test::RedisServer::Options options;
  options.tcp = true;
  return options;
}

using Sample = MeasuredTimes::Sample;

double error_of(const CallTime& time, const std::vector<Sample>& samples) {
  double sum = 0;
  for (const Sample& sample : samples) {
    const double part = sample.by(time) / sample.ns - 1;
    sum += part * part;
  }
  return sum;
}

/// Fits the times to the samples with the smallest relative error. None of the three is negative.
/// The search uses decreasing steps, since the error has one minimum.
CallTime fit(const std::vector<Sample>& samples) {
  CallTime best;
  double error = error_of(best, samples);
  for (double step = 16'384; step >= 1; step /= 2)
    for (bool better = true; better;) {
      better = false;
      for (double CallTime::*part : {&CallTime::base, &CallTime::find_account, &CallTime::write})
        for (const double by : {step, -step}) {
          CallTime tried = best;
          tried.*part = std::max(tried.*part + by, 0.0);
          const double tried_error = error_of(tried, samples);
          if (tried_error >= error * (1 - 1e-9)) continue;
          best = tried;
          error = tried_error;
          better = true;
        }
    }
  return best;
}

class Measuring {
 public:
  Measuring() : server_(with_tcp()), redis_(loop_, options_of(server_)) {
    keys_.now_us = 1'800'000'000'000'000;
    redis_.call({"PING"});
  }

  MeasuredTimes measure();

 private:
  static constexpr std::size_t items = 2048;
  static constexpr std::size_t at_once = 64;

  /// Processor time in ns that the main thread of Redis has used.
  [[nodiscard]] double used() const {
    const std::string pid = std::to_string(server_.pid());
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/schedstat");
    double ns = 0;
    if (file >> ns) return ns;
    return 1e9 * (std::stod(server_.info_text("used_cpu_user")) +
                  std::stod(server_.info_text("used_cpu_sys")));
  }
  double time_of(const std::function<void()>& what, double times) {
    const double before = used();
    what();
    return (used() - before) / times;
  }
  void scripts(const char* what, const redis::Script& script, const std::vector<Call>& calls);
  void plain(const char* what, const Words& words, int times);
  void plain_commands();
  void claims_and_ends();
  void other_scripts();
  void connections();

  Call claim_of(const std::string& list, const std::vector<std::string>& runs) const;
  void one_after_another(std::size_t taken);
  std::string run_id() {
    std::string id = std::to_string(++runs_);
    return std::string(26 - id.size(), '0') + id;
  }

  test::RedisServer server_;
  loop::Loop loop_;
  redis::SyncClient redis_;
  Keys keys_;
  std::vector<Published> published_;
  std::uint64_t runs_ = 0;
  MeasuredTimes found_;
};

void Measuring::scripts(const char* what, const redis::Script& script,
                        const std::vector<Call>& calls) {
  const auto allowed = [](const CommandInfo&, bool) { return std::string(); };
  const std::uint64_t find_count = keys_.find_count, written = keys_.written;
  for (const Call& call : calls) run_lua(script, {keys_, call.key, call.arg, published_}, allowed);
  published_.clear();
  const auto count = static_cast<double>(calls.size());
  redis_.call({"SCRIPT", "LOAD", script.text});
  const double ns = time_of(
      [&] {
        for (std::size_t from = 0; from < calls.size(); from += at_once) {
          std::vector<redis::Command> commands;
          std::vector<std::string> counts(at_once);
          for (std::size_t i = from; i < std::min(from + at_once, calls.size()); ++i) {
            counts[i - from] = std::to_string(calls[i].key.size());
            redis::Command words{"EVALSHA", script.sha1, counts[i - from]};
            words.insert(words.end(), calls[i].key.begin(), calls[i].key.end());
            words.insert(words.end(), calls[i].arg.begin(), calls[i].arg.end());
            words.emplace_back("1");  // the call's name
            commands.push_back(std::move(words));
          }
          for (const auto& reply : redis_.pipeline(commands))
            if (reply.kind == redis::ReplyCopy::Kind::error)
              throw redis::RedisError(std::string(what) + ": " + reply.text);
        }
      },
      count);
  found_.samples.push_back({what, &script, ns,
                            static_cast<double>(keys_.find_count - find_count) / count,
                            static_cast<double>(keys_.written - written) / count});
}

void Measuring::plain(const char* what, const Words& words, int times) {
  const redis::Command command(words.begin(), words.end());
  const double ns = time_of(
      [&] {
        for (int i = 0; i < times; i += 64)
          redis_.pipeline(std::vector<redis::Command>(64, command));
      },
      times);
  found_.samples.push_back({what, nullptr, ns, static_cast<double>(words.size() - 1), 0});
}

void Measuring::plain_commands() {
  plain("PING", {"PING"}, 6400);
  Words exists{"EXISTS"};
  for (int i = 0; i < 512; ++i) exists.push_back("list" + std::to_string(i) + ":list");
  plain("EXISTS of 512 keys", exists, 640);
  const double in_a_row = found_.samples.front().ns;
  const double alone = time_of(
      [this] {
        for (int i = 0; i < 3000; ++i) redis_.call({"PING"});
      },
      3000);
  found_.read = std::max(alone - in_a_row, 0.0);
}

Call Measuring::claim_of(const std::string& list, const std::vector<std::string>& runs) const {
  Call call;
  for (const char* key :
       {"list", "fence", "failures", "slots", "paused", "quarantined", "waiting", "samples"})
    call.key.push_back(list + ':' + key);
  call.arg = {list + ":lock:",
              "run:host1:100:",
              "60000",
              "0",
              "-1",
              "256",
              "0",
              "0",
              list + ":wake",
              "1",
              "1048576",
              "64",
              "4096",
              "16777216",
              R"({"by":"h"})",
              "0",
              list + ":proc:"};
  call.arg.insert(call.arg.end(), runs.begin(), runs.end());
  return call;
}

/// Claims, renews and settles all items of a list, `taken` items per call.
void Measuring::one_after_another(std::size_t taken) {
  const std::string list = "busy" + std::to_string(taken);
  redis::Command push{"RPUSH"};
  Words names{list + ":list"};
  for (std::size_t i = 0; i < items; ++i) names.push_back("item" + std::to_string(i));
  push.insert(push.end(), names.begin(), names.end());
  redis_.call(push);
  keys_.get<List>(names[0]).assign(names.begin() + 1, names.end());
  std::vector<Call> claims, renewals, ends;
  for (std::size_t at = 0; at < items; at += taken) {
    Words runs;
    Call renewal{{list + ":slots"}, {"60000", "0", "0", list + ":lock:", list + ":proc:", "256"}};
    Call end{{list + ":failures", list + ":slots", list + ":runs", list + ":quarantined"},
             {list + ":events", list + ":wake", list + ":lock:", "1", "", "run:host1:100:", "", "0",
              R"({"run":"X1"})", "reset", "0", "0", "1000 16777216", "", "1", ""}};
    for (std::size_t i = at; i < at + taken; ++i) {
      runs.push_back(run_id());
      const std::string lock = list + ":lock:" + names[i + 1];
      renewal.key.push_back(lock);
      renewal.arg.push_back("run:host1:100:" + runs.back());
      end.key.push_back(lock);
      end.arg.insert(end.arg.end(), {"1", runs.back(),
                                     R"({"run":")" + runs.back() +
                                         R"(","host":"host1","outcome":"succeeded","ms":1000})",
                                     ""});
    }
    end.key.push_back(list + ":waiting");
    claims.push_back(claim_of(list, runs));
    renewal.arg.emplace_back();
    renewals.push_back(std::move(renewal));
    ends.push_back(std::move(end));
  }
  scripts(taken == 1 ? "claim, 1 item" : "claim, 16 items", lua::claim, claims);
  scripts(taken == 1 ? "renew, 1 lock" : "renew, 16 locks", lua::renew, renewals);
  scripts(taken == 1 ? "settle, 1 end" : "settle, 16 ends", lua::settle, ends);
}

void Measuring::claims_and_ends() {
  std::vector<Call> empties;
  for (int i = 0; i < 2000; ++i)
    empties.push_back(claim_of("list" + std::to_string(i % 500), {run_id()}));
  scripts("claim, empty list", lua::claim, empties);
  // The same by EVAL, each time with a text that is new to Redis.
  constexpr int texts = 200;
  std::vector<std::string> all;
  for (int i = 0; i < texts; ++i)
    all.push_back(std::string(lua::claim.text) + "\n-- " + std::to_string(i));
  const double ns = time_of(
      [&] {
        for (const std::string& text : all) {
          redis::Command words{"EVAL", text, "8"};
          words.insert(words.end(), empties[0].key.begin(), empties[0].key.end());
          words.insert(words.end(), empties[0].arg.begin(), empties[0].arg.end());
          redis_.call(words);
        }
      },
      texts);
  found_.script_byte = std::max(ns - found_.samples.back().ns - found_.read, 0.0) /
                       static_cast<double>(lua::claim.text.size());
  one_after_another(1);
  one_after_another(16);
}

/// Measures scripts on lists whose items are all locked.
void Measuring::other_scripts() {
  redis::Command push{"RPUSH", "locked:list"};
  Words names, locks;
  for (int i = 0; i < 256; ++i) {
    names.push_back("item" + std::to_string(i));
    locks.push_back("locked:lock:" + names.back());
    redis_.call({"SET", locks.back(), "run:host2:100:x"});
    keys_.set(locks.back(), "run:host2:100:x", std::nullopt, false);
  }
  push.insert(push.end(), names.begin(), names.end());
  redis_.call(push);
  keys_.get<List>("locked:list").assign(names.begin(), names.end());
  scripts("claim, 256 locked", lua::claim, std::vector<Call>(200, claim_of("locked", {run_id()})));

  Call one{{"locked:list"}, {"1048576", "locked:lock:", "256", "0", "4"}};
  Call many{{}, {"1048576"}};
  for (int i = 0; i < 64; ++i) {
    many.key.push_back("locked:list");
    many.arg.insert(many.arg.end(), {"locked:lock:", "256", std::to_string(i), "4"});
  }
  scripts("look, 1 list", lua::peek, std::vector<Call>(1000, one));
  scripts("look, 64 lists", lua::peek, std::vector<Call>(100, many));

  Call sweep_one{{"a:list", "a:failures", "a:quarantined"}, {"200000", "a:lock:", "a:proc:"}};
  Call sweep_many{{}, {"200000"}};
  for (int i = 0; i < 64; ++i) {
    const std::string list = "list" + std::to_string(i);
    sweep_many.key.insert(sweep_many.key.end(),
                          {list + ":list", list + ":failures", list + ":quarantined"});
    sweep_many.arg.insert(sweep_many.arg.end(), {list + ":lock:", list + ":proc:"});
  }
  scripts("sweep, 1 list", lua::sweep, std::vector<Call>(1000, sweep_one));
  scripts("sweep, 64 lists", lua::sweep, std::vector<Call>(100, sweep_many));
}

void Measuring::connections() {
  constexpr int listeners = 50, channels = 200, messages = 100;
  const double ping = found_.read + found_.samples.front().ns;
  found_.connection = std::max(time_of(
                                   [this] {
                                     for (int i = 0; i < 300; ++i) server_.command({"PING"});
                                   },
                                   300) -
                                   ping,
                               0.0);
  std::vector<std::unique_ptr<redis::Subscriber>> all;
  std::vector<redis::Subscription> subscriptions;
  int confirmed = 0, heard = 0;
  const auto wait = [this](const int& count, int until) {
    while (count < until) loop_.iterate(true);
  };
  for (int i = 0; i < listeners; ++i) {
    all.push_back(std::make_unique<redis::Subscriber>(loop_, options_of(server_)));
    subscriptions.push_back(all.back()->subscribe(
        "news", [&heard](std::string_view, std::string_view) { ++heard; },
        [&confirmed] { ++confirmed; }));
  }
  wait(confirmed, listeners);
  const double all_messages = time_of(
      [&] {
        // One after the other, so that each message is one write on each connection.
        for (int i = 1; i <= messages; ++i) {
          redis_.call({"PUBLISH", "news", "free"});
          wait(heard, listeners * i);
        }
      },
      messages);
  found_.message = std::max((all_messages - ping) / listeners, 0.0);
  confirmed = 0;
  found_.subscribe = time_of(
      [&] {
        for (int i = 0; i < channels; ++i)
          for (int k = 0; k < 10; ++k)
            subscriptions.push_back(all[static_cast<std::size_t>(k)]->subscribe(
                "channel" + std::to_string(i), [](std::string_view, std::string_view) {},
                [&confirmed] { ++confirmed; }));
        wait(confirmed, channels * 10);
      },
      channels * 10);
}

MeasuredTimes Measuring::measure() {
  plain_commands();
  claims_and_ends();
  other_scripts();
  connections();
  std::map<const redis::Script*, std::vector<Sample>> by_script;
  for (const Sample& sample : found_.samples) by_script[sample.script].push_back(sample);
  for (const auto& [script, samples] : by_script)
    (script == nullptr ? found_.plain : found_.scripts[script]) = fit(samples);
  return std::move(found_);
}

}  // namespace

const CallTime& MeasuredTimes::of(const redis::Script* script) const {
  if (script == nullptr) return plain;
  // Rare scripts are not measured. They take about as long as a claim.
  const auto known = scripts.find(script);
  return known != scripts.end() ? known->second : scripts.at(&lua::claim);
}

double MeasuredTimes::of_command(const Work& work) const {
  const Words& words = work.words;
  if (words[0] == "SUBSCRIBE" || words[0] == "UNSUBSCRIBE")
    return plain.base + subscribe * static_cast<double>(words.size() - 1);
  const CallTime& time = of(work.script);
  double ns = time.base + time.find_account * work.find_count + time.write * work.written;
  if (words[0] == "EVAL") ns += script_byte * static_cast<double>(words[1].size());
  return ns;
}

MeasuredTimes measure_times() {
  return Measuring().measure();
}

MeasuredTimes usual_times() {
  // redis-server 7.0.15 on one of two processors of a virtual machine with little other load.
  MeasuredTimes times;
  times.connection = 7'000;
  times.read = 3'900;
  times.message = 2'100;
  times.subscribe = 340;
  times.script_byte = 45;
  times.plain = {300, 50, 0};
  times.scripts = {{&lua::claim, {7'000, 400, 2'500}},
                   {&lua::renew, {3'000, 950, 0}},
                   {&lua::settle, {9'000, 0, 4'550}},
                   {&lua::peek, {3'500, 750, 0}},
                   {&lua::sweep, {2'300, 950, 0}}};
  return times;
}

}  // namespace w8y::sim
