// The model of the store against a real redis-server: the same random calls and steps of time on
// both, through the real scripts; after each, the replies and every key are compared.
//
// The scripts get the virtual time instead of Redis's. Keys of the real server live as long as the
// model says, in thousands of seconds, so that none of them ends while the test is at it.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "redis/sync.hpp"
#include "simulation/random.hpp"
#include "simulation/scripts.hpp"
#include "store/scripts.hpp"
#include "support/redis_server.hpp"

namespace w8y::sim {

namespace {

constexpr std::int64_t unit_ms = 1'000'000;
/// Of what a key has left to live: it is counted by two clocks.
constexpr std::int64_t tolerance_ms = unit_ms * 2 / 5;

/// All keys, by name: type, ms to live, contents.
constexpr const char* dump_script = R"(
local all = redis.call('KEYS', '*')
table.sort(all)
local reply = {}
for _, key in ipairs(all) do
  local kind = redis.call('TYPE', key).ok
  local what
  if kind == 'string' then what = {redis.call('GET', key)}
  elseif kind == 'list' then what = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'zset' then what = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  else
    local names = redis.call('HKEYS', key)
    table.sort(names)
    what = {}
    for _, name in ipairs(names) do
      what[#what + 1] = name
      what[#what + 1] = redis.call('HGET', key, name)
    end
  end
  reply[#reply + 1] = {key, kind, redis.call('PTTL', key), what}
end
return reply
)";

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

std::string shown(const Dump& dump) {
  std::string text;
  for (const auto& [key, entry] : dump) {
    text += "  " + key + ' ' + entry.kind + ' ' + std::to_string(entry.ttl) + ":";
    for (const std::string& word : entry.what) text += ' ' + word;
    text += '\n';
  }
  return text;
}

struct Filler {
  Dumped& into;
  void operator()(const std::string& text) const {
    into.kind = "string";
    into.what = {text};
  }
  void operator()(const List& list) const {
    into.kind = "list";
    into.what.assign(list.begin(), list.end());
  }
  void operator()(const Hash& hash) const {
    into.kind = "hash";
    for (const auto& [name, value] : hash) into.what.insert(into.what.end(), {name, value});
  }
  void operator()(const SortedSet& set) const {
    into.kind = "zset";
    for (const auto& [score, member] : set.order()) {
      char number[32];
      std::snprintf(number, sizeof number, "%.17g", score);
      into.what.insert(into.what.end(), {member, number});
    }
  }
};

Value value_of(const redis::ReplyCopy& reply) {
  using Kind = redis::ReplyCopy::Kind;
  switch (reply.kind) {
    case Kind::nil:
      return {};
    case Kind::integer:
      return Value::of(reply.number);
    case Kind::error:
      return Value::error(reply.text);
    case Kind::string:
      return Value::of(reply.text);
    case Kind::array:
      break;
  }
  std::vector<Value> elements;
  for (const redis::ReplyCopy& element : reply.elements) elements.push_back(value_of(element));
  return Value::array(std::move(elements));
}

/// Numbers that count ms to live differ a little.
bool same(const Value& a, const Value& b, bool times) {
  if (a.kind != b.kind || a.text != b.text || a.elements.size() != b.elements.size()) return false;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    const Value &left = a.elements[i], &right = b.elements[i];
    const bool time = times && i == 2 && left.number >= 0 && right.number >= 0;
    if (time ? std::abs(left.number - right.number) > tolerance_ms : !same(left, right, false))
      return false;
  }
  return a.number == b.number;
}

class Comparison {
 public:
  explicit Comparison(std::uint64_t seed)
      : random_(seed), redis_(loop_, options()), subscriber_(loop_, options()) {
    keys_.now_us = 1'800'000'000'000'000;
    for (const char* channel : {"w:events", "w:wake"})
      subscriptions_.push_back(subscriber_.subscribe(
          channel,
          [this](std::string_view from, std::string_view text) {
            heard_.push_back({std::string(from), std::string(text)});
          },
          [this] { ++confirmed_; }));
    wait([this] { return confirmed_ == 2; }, "the channels");
  }

  void step();
  void compare_news();

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
      loop_.turn(true);
    }
  }

  void script(const redis::Script& real, Script model, const Words& key, const Words& arg,
              bool times = false);
  void plain(const Words& words);
  void pass(std::int64_t ms);
  void compare_keys(const std::string& after);
  Dump real_keys();
  Dump model_keys();
  void claim_some();
  void claim_one();
  void settle_some();
  void renew_some();
  void undo_some();
  void look_at_list();
  void sweep_all();
  void order();
  void user();

  std::string item() { return "item" + std::to_string(random_.below(14)); }
  std::string lock(const std::string& of) { return "w:lock:" + of; }
  std::string holder() { return "run:h" + std::to_string(1 + random_.below(3)) + ":1:"; }
  std::string run_id() {
    std::string id = std::to_string(++runs_);
    return std::string(26 - id.size(), '0') + id;
  }
  std::string ms(std::int64_t units) { return std::to_string(units * unit_ms); }

  struct Run {
    std::string holder;
    std::string id;
    std::string item;
  };

  Random random_;
  test::RedisServer server_;
  loop::Loop loop_;
  redis::SyncClient redis_;
  redis::Subscriber subscriber_;
  std::vector<redis::Subscription> subscriptions_;
  int confirmed_ = 0;
  Keys keys_;
  std::vector<Published> heard_;
  std::vector<Published> published_;
  std::vector<Run> held_;
  std::int64_t left_ = -1;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
};

void Comparison::script(const redis::Script& real, Script model, const Words& key, const Words& arg,
                        bool times) {
  const Value expected = model({keys_, key, arg, published_});
  std::string text(real.text);
  const std::string clock = "({'" + std::to_string(keys_.now_us / 1'000'000) + "','" +
                            std::to_string(keys_.now_us % 1'000'000) + "'})";
  const std::string asks = "redis.call('TIME')";
  for (auto at = text.find(asks); at != std::string::npos; at = text.find(asks, at))
    text.replace(at, asks.size(), clock);
  const std::string count = std::to_string(key.size());
  redis::Command words{"EVAL", text, count};
  words.insert(words.end(), key.begin(), key.end());
  words.insert(words.end(), arg.begin(), arg.end());
  const auto replies = redis_.pipeline({words});
  const Value found = value_of(replies[0]);
  std::string what = std::string(real.name) + " (";
  for (const std::string& word : arg) what += word.substr(0, 60) + ", ";
  what += ")";
  if (!same(expected, found, times))
    throw std::runtime_error("step " + std::to_string(steps_) + ", " + what +
                             "\n  the model says " + to_text(expected) + "\n  redis says     " +
                             to_text(found) + "\n" + shown(model_keys()));
  compare_keys(what);
}

void Comparison::plain(const Words& words) {
  const redis::Command command(words.begin(), words.end());
  redis_.call(command);
  std::string what;
  for (const std::string& word : words) what += word + ' ';
  compare_keys(what);
}

Dump Comparison::real_keys() {
  const auto replies = redis_.pipeline({{"EVAL", dump_script, "0"}});
  Dump dump;
  for (const redis::ReplyCopy& key : replies[0].elements) {
    Dumped& entry = dump[key.elements[0].text];
    entry.kind = key.elements[1].text;
    entry.ttl = key.elements[2].number;
    for (const redis::ReplyCopy& word : key.elements[3].elements) entry.what.push_back(word.text);
  }
  return dump;
}

Dump Comparison::model_keys() {
  Dump dump;
  for (const auto& [key, entry] : keys_.all()) {
    Dumped& into = dump[key];
    std::visit(Filler{into}, entry.value);
    into.ttl = entry.expires_ms ? *entry.expires_ms - keys_.now_ms() : -1;
  }
  return dump;
}

void Comparison::compare_keys(const std::string& after) {
  const Dump real = real_keys(), model = model_keys();
  if (real == model) return;
  throw std::runtime_error("step " + std::to_string(steps_) + ", after " + after +
                           "the keys differ\n the model has\n" + shown(model) + " redis has\n" +
                           shown(real));
}

void Comparison::compare_news() {
  wait([this] { return heard_.size() >= published_.size(); }, "messages");
  if (heard_ != published_) throw std::runtime_error("other messages were published");
  heard_.clear();
  published_.clear();
}

/// Time passes for both: what is over by then goes, and what is left lives as long as the model
/// says.
void Comparison::pass(std::int64_t ms_passed) {
  const Dump before = model_keys();
  keys_.now_us += ms_passed * 1000 + static_cast<std::int64_t>(random_.below(1000));
  for (const auto& [key, entry] : before) {
    const std::int64_t left = keys_.ttl(key);
    const std::string text = std::to_string(left);
    if (left == -2) redis_.call({"DEL", key});
    if (left > 0) redis_.call({"PEXPIRE", key, text});
  }
  compare_keys("time ");
}

void Comparison::claim_some() {
  const std::string who = holder();
  const std::int64_t wanted = random_.between(0, random_.chance(20) ? 20 : 3);
  const bool goes_on = left_ > 0 && random_.chance(60);
  const std::string pass = goes_on ? std::to_string(left_) : random_.chance(40) ? "-2" : "-1";
  Words arg{"w:lock:",
            who,
            ms(random_.between(1, 4)),
            std::to_string(random_.chance(50) ? 0 : random_.between(1, 4)),
            pass,
            std::to_string(random_.one_of<int>({4, 8, 256})),
            random_.chance(20) ? "1" : "0",
            std::to_string(random_.chance(15) ? -1 : random_.between(0, 2)),
            "w:wake",
            random_.chance(70) ? "1" : "0",
            random_.chance(10) ? "40" : "1048576",
            std::to_string(random_.one_of<int>({1, 3, 64})),
            random_.chance(90) ? "100" : "5",
            "4097",
            R"({"by":"h1","why":"too long"})"};
  std::vector<Run> wanted_runs;
  for (std::int64_t i = 0; i < wanted; ++i) {
    wanted_runs.push_back({who, run_id(), {}});
    arg.push_back(wanted_runs.back().id);
  }
  script(store::scripts::claim, claim,
         {"w:list", "w:fence", "w:failures", "w:slots", "w:paused", "w:quarantined", "w:waiting",
          "w:visits"},
         arg, true);
  left_ = -1;
  for (const auto& [key, entry] : model_keys())
    for (Run& run : wanted_runs)
      if (key.starts_with("w:lock:") && entry.what[0] == run.holder + run.id) {
        run.item = key.substr(7);
        held_.push_back(run);
      }
  if (random_.chance(50)) left_ = random_.between(1, 8);
}

void Comparison::claim_one() {
  const Run run{holder(), run_id(), item()};
  script(
      store::scripts::claim_item, claim_item,
      {"w:list", "w:fence", "w:failures", "w:slots", "w:paused", "w:quarantined", lock(run.item)},
      {run.holder + run.id, ms(random_.between(1, 4)), random_.chance(50) ? "0" : "2", run.item,
       run.id, "4096"});
  const auto* value = keys_.find<std::string>(lock(run.item));
  if (value != nullptr && *value == run.holder + run.id) held_.push_back(run);
}

/// Some that are held, and some that were lost or ended before.
void Comparison::settle_some() {
  if (held_.empty()) return;
  Words key{"w:failures", "w:slots", "w:runs", "w:list", "w:quarantined"};
  const auto kinds = random_.between(1, 2);
  Words arg{"w:events", "w:wake", "w:lock:", std::to_string(kinds)};
  const std::string who = random_.one_of(held_).holder;
  for (std::int64_t i = 0; i < kinds; ++i) {
    const auto becomes = random_.below(4);
    const Words words[] = {{"", "0"},
                           {"rest:cooldown", ms(random_.between(1, 3))},
                           {"rest:backoff", ms(random_.between(1, 3))},
                           {"quarantine:0123", "0"}};
    arg.insert(arg.end(), {who, words[becomes][0], words[becomes][1], R"({"run":"X1"})",
                           random_.one_of<std::string>({"keep", "reset", "increment"}),
                           random_.chance(25) ? "1" : "0", random_.chance(20) ? "1" : "0",
                           random_.one_of<std::string>({"0", "1", "3", "30"})});
  }
  std::set<std::string> locks;
  for (auto left = random_.between(1, 4); left > 0; --left) {
    const auto place = random_.below(held_.size());
    const Run run = held_[place];
    if (!locks.insert(run.item).second) continue;
    // One that ends again was settled before.
    if (random_.chance(70)) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
    key.push_back(lock(run.item));
    arg.insert(arg.end(), {std::to_string(random_.between(1, kinds)), run.id,
                           random_.chance(80) ? R"({"run":")" + run.id + R"("})" : "",
                           random_.chance(50) ? R"(,"more":1)" : ""});
    if (held_.empty()) break;
  }
  key.push_back("w:waiting");
  script(store::scripts::settle, settle, key, arg);
}

void Comparison::renew_some() {
  if (held_.empty()) return;
  const bool fleet = random_.chance(40);
  Words key{fleet ? "w:slots" : lock(held_[0].item)};
  Words arg{ms(random_.between(1, 4)), fleet ? "1" : "0"};
  for (auto left = random_.between(1, 5); left > 0; --left) {
    const Run& run = random_.one_of(held_);
    key.push_back(lock(run.item));
    arg.push_back((random_.chance(50) ? "t" : "n") + run.holder + run.id);
  }
  script(store::scripts::renew, renew, key, arg);
}

void Comparison::undo_some() {
  if (held_.empty()) return;
  const Run& run = random_.one_of(held_);
  Words arg{"w:lock:",
            run.holder,
            std::to_string(random_.between(0, 4)),
            std::to_string(random_.one_of<int>({2, 256})),
            random_.chance(20) ? "20" : "1048576",
            std::to_string(random_.one_of<int>({1, 4, 64})),
            "w:wake",
            run.id};
  if (random_.chance(50)) arg.push_back(random_.one_of(held_).id);
  script(store::scripts::undo, undo, {"w:list", "w:slots"}, arg);
}

void Comparison::look_at_list() {
  const List* list = keys_.find<List>("w:list");
  const auto length = list == nullptr ? 0 : std::ssize(*list);
  script(store::scripts::look, look, {"w:list", "w:empty"},
         {random_.chance(80) ? "1048576" : "30",
          "w:lock:", std::to_string(random_.chance(80) ? length : length + 1),
          std::to_string(random_.between(0, 5)), std::to_string(random_.between(1, 20)),
          "w:lock:", "0", "0", "8"});
}

void Comparison::sweep_all() {
  script(store::scripts::sweep, sweep, {"w:list", "w:failures", "w:quarantined"},
         {"200000", "w:lock:", "w:proc:"});
}

void Comparison::order() {
  const std::string one = item(), two = item();
  if (random_.chance(50)) {
    script(store::scripts::quarantine, quarantine,
           {"w:list", "w:quarantined", lock(one), lock(two)},
           {R"({"by":"somebody","run":"Y2"})", one, two});
  } else {
    script(store::scripts::release, release,
           {"w:list", "w:failures", "w:quarantined", lock(one), "w:proc:" + one, lock(two),
            "w:proc:" + two},
           {"w:wake", one, two});
  }
}

void Comparison::user() {
  const std::string one = item();
  switch (random_.below(7)) {
    case 0:
    case 1:
      keys_.get<List>("w:list").push_back(one);
      return plain({"RPUSH", "w:list", one});
    case 2: {
      List* list = keys_.find<List>("w:list");
      if (list != nullptr) std::erase(*list, one);
      keys_.sweep("w:list");
      return plain({"LREM", "w:list", "0", one});
    }
    case 3:
      keys_.set("w:paused", "for a while",
                random_.chance(70) ? std::optional(unit_ms) : std::nullopt, false);
      return plain(keys_.ttl("w:paused") < 0
                       ? Words{"SET", "w:paused", "for a while"}
                       : Words{"SET", "w:paused", "for a while", "PX", std::to_string(unit_ms)});
    case 4:
      keys_.remove("w:paused");
      return plain({"DEL", "w:paused"});
    case 5: {
      const std::string note = std::to_string(keys_.now_ms() - 5000) + " 0 0";
      set_field(keys_, "w:visits", one, note);
      return plain({"HSET", "w:visits", one, note});
    }
    default:
      keys_.set(lock(one), "another's", unit_ms, false);
      return plain({"SET", lock(one), "another's", "PX", std::to_string(unit_ms)});
  }
}

void Comparison::step() {
  ++steps_;
  const auto dice = random_.below(100);
  if (dice < 30) return claim_some();
  if (dice < 34) return claim_one();
  if (dice < 50) return settle_some();
  if (dice < 58) return renew_some();
  if (dice < 63) return undo_some();
  if (dice < 69) return look_at_list();
  if (dice < 71) return sweep_all();
  if (dice < 77) return order();
  if (dice < 88) return user();
  // Within a turn in the line, and beyond what has the longest life.
  if (dice < 95) return pass(random_.between(0, 200));
  pass(unit_ms * random_.between(1, 3));
  if (random_.chance(20)) redis_.call({"SCRIPT", "FLUSH"});
}

}  // namespace

}  // namespace w8y::sim

int main(int argc, char** argv) {
  std::uint64_t steps = 4000, seed = 1;
  CLI::App app("Compares the simulation's model of the store with a redis-server.");
  app.add_option("--steps", steps, "how many calls and steps of time")->capture_default_str();
  app.add_option("--seed", seed, "of the first")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    w8y::sim::Comparison comparison(seed);
    for (std::uint64_t i = 1; i <= steps; ++i) {
      comparison.step();
      if (i % 100 == 0 || i == steps) comparison.compare_news();
    }
    std::cout << steps << " steps from seed " << seed << ": model and Redis agree\n";
    return 0;
  } catch (const std::exception& error) {
    std::cout << "seed " << seed << ": " << error.what() << '\n';
    return 1;
  }
}
