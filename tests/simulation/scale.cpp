#include "simulation/scale.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/idle_polls.hpp"
#include "simulation/children.hpp"
#include "simulation/host.hpp"
#include "simulation/network.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration settling = 6s;
constexpr Duration window = 4s;
/// Time after which the load has settled when all hosts have started runs at once.
constexpr Duration settling_to_work = 20s;
constexpr Duration max_settling_to_work = 120s;
/// Share of the possible runs at which the load counts as settled.
constexpr double settled_part = 0.8;
/// Lists are idle when hosts claim from at most one pair of host and list in 12 within a period.
/// They must be idle within the second time.
constexpr std::uint64_t pairs_of_claim = 12;
constexpr Duration max_unrest = 120s;
/// Number of measured pushes, and the pause between two. If hosts poll lists at intervals of 10 s,
/// the number is limited by `max_pushing`.
constexpr unsigned pushes = 100;
constexpr unsigned min_pushes = 20;
constexpr Duration max_pushing = 100s;
constexpr Duration push_pause = 50ms;
constexpr Duration max_wake = 60s;
constexpr unsigned resting_items = 4;
/// Number of active lists, and minimum number of their items.
constexpr unsigned lists_at_work = 100;
constexpr unsigned min_items = 10;
/// Time limit of a measurement.
constexpr Duration max_start = 600s;
constexpr Duration progress_pause = 10s;
/// Time within which all hosts start, and for which Redis is down.
constexpr Duration at_once = 1s;

double seconds(Duration time) {
  return static_cast<double>(time.count()) / 1e6;
}

class Fleet final : public Server::Watcher, public ChildWatcher, public HostWatcher {
 public:
  Fleet(const FleetSize& size, const ServiceTimes& times, const Progress& progress);
  ~Fleet() override;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  FleetFigures measure();

 private:
  struct Counted {
    Server::Load load;
    Instant at;
  };
  [[nodiscard]] Counted count() const { return {redis_.load(), world_.now()}; }
  void runs_take(Duration time);
  void pass(Duration time) { world_.run_until(world_.now() + time); }
  double wait_for_all();
  void saw(const std::string& host, const std::string& list);
  void record_peek(const std::string& host, std::span<const std::string> lists);
  void start(FleetFigures& into);
  [[nodiscard]] bool comes_to_rest(Duration calm, std::uint64_t claims_before);
  [[nodiscard]] bool pays_for_changes();
  void rest(double& per_s, double& busy);
  void rest_empty(FleetFigures& into);
  void rest_locked(FleetFigures& into);
  void wake(FleetFigures& into, bool told);
  void work(FleetFigures& into);
  void readmit(FleetFigures& into);
  std::string list(unsigned number) const { return "list" + std::to_string(number); }

  // Server::Watcher
  void before(Server&, const Server::Command&) override {}
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server&) override {}
  // ChildWatcher
  void child_born(const Child&) override {}
  void child_dead(const Child&) override {}
  // HostWatcher
  void run_over(const std::string& host, const std::string&, const EndedRun&) override {
    ++runs_[index_of(host)];
  }
  void lease_back(const RunId&) override {}

  /// Returns the index in a name: 11 for "h12" and "list12:list".
  static std::size_t index_of(std::string_view name) {
    const auto digit = name.find_first_of("0123456789");
    std::size_t number = 1;
    std::from_chars(name.data() + digit, name.data() + name.size(), number);
    return number - 1;
  }

  const FleetSize size_;
  const Progress& progress_;
  World world_;
  Server redis_;
  Network network_;
  Children children_;
  Random jitter_;
  std::vector<std::unique_ptr<Host>> hosts_;
  /// By host and list: whether the host has polled the list since the last reset.
  std::vector<bool> seen_;
  std::size_t unseen_ = 0;
  // Numbers since the start.
  std::uint64_t claims_ = 0;
  std::uint64_t peeks_elsewhere_ = 0;  ///< commands that peek only at lists without items
  Duration settling_of_all_{0};
  std::map<std::string, Instant> pushed_;
  std::vector<double> latencies_;  ///< ms
  std::vector<std::uint64_t> runs_;
};

std::string config_of(const FleetSize& size) {
  std::string text = "[redis]\nurl = \"rediss://redis1\"\n";
  if (size.idle_commands > 0)
    text += "idle_commands = " + std::to_string(size.idle_commands) + '\n';
  text += "[supervisor]\nhost = \"h\"\nhost_concurrency = " + std::to_string(places_of_host) + '\n';
  for (unsigned i = 1; i <= size.lists; ++i)
    text +=
        "[lists.list" + std::to_string(i) +
        "]\ncommand = [\"/bin/work\", \"{}\"]\nconcurrency = " + std::to_string(places_of_host) +
        '\n';
  return text;
}

Fleet::Fleet(const FleetSize& size, const ServiceTimes& times, const Progress& progress)
    : size_(size),
      progress_(progress),
      world_(1),
      redis_(world_, "redis1"),
      network_(world_),
      children_(world_, *this),
      jitter_(world_.random.fork(3)),
      runs_(size.hosts) {
  world_.keeps_log = false;
  redis_.times = &times;
  redis_.permit_tracking(size.tracking);
  redis_.watcher = this;
  use_network(&network_, &jitter_);
  network_.add(redis_);
  const ConfigPtr all = parse(config_of(size));
  for (const auto& [prefix, rule] : all->lists) children_.manners[prefix].steady = true;
  runs_take(5ms);
  for (unsigned i = 1; i <= size.hosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    Config own = *all;
    own.supervisor.host = name;
    hosts_.push_back(std::make_unique<Host>(world_, network_, children_, *this, name));
    hosts_.back()->use_config(std::make_shared<const Config>(std::move(own)));
    hosts_.back()->fleet_has(size.hosts);
  }
}

/// Sets the mean duration of runs.
void Fleet::runs_take(Duration time) {
  for (auto& [prefix, manners] : children_.manners) {
    manners.shortest = time / 2;
    manners.longest = time * 3 / 2;
  }
}

Fleet::~Fleet() {
  for (auto& each : hosts_) each->die();
  world_.clear();
}

void Fleet::after(Server&, const Server::Command& command, const Value& reply) {
  if (!command.words.empty() && command.words[0] == "EXISTS")
    record_peek(command.who, std::span(command.words).subspan(1));
  if (command.script == &store::scripts::peek) record_peek(command.who, command.key);
  if (command.script != &store::scripts::claim) return;
  ++claims_;
  saw(command.who, command.key[0]);
  if (pushed_.empty()) return;
  for (std::size_t i = 7; i + 2 < reply.elements.size(); i += 3) {
    const auto found = pushed_.find(reply.elements[i].text);
    if (found == pushed_.end()) continue;
    latencies_.push_back(seconds(world_.now() - found->second) * 1000);
    pushed_.erase(found);
  }
}

void Fleet::record_peek(const std::string& host, std::span<const std::string> lists) {
  for (const std::string& list : lists) saw(host, list);
  const auto has_no_work = [](const std::string& list) {
    return list.ends_with(":list") && index_of(list) >= lists_at_work;
  };
  if (std::all_of(lists.begin(), lists.end(), has_no_work)) ++peeks_elsewhere_;
}

void Fleet::saw(const std::string& host, const std::string& list) {
  if (unseen_ == 0 || !list.ends_with(":list")) return;
  const std::size_t place = index_of(host) * size_.lists + index_of(list);
  if (!seen_[place]) --unseen_;
  seen_[place] = true;
}

/// Waits until each host has claimed from each list or peeked at it. Returns the time in s;
/// negative: not within the limit.
double Fleet::wait_for_all() {
  const Instant started = world_.now();
  seen_.assign(std::size_t{size_.hosts} * size_.lists, false);
  unseen_ = seen_.size();
  Instant told = started;
  while (unseen_ > 0 && world_.now() - started < max_start) {
    pass(10ms);
    if (world_.now() - told < progress_pause) continue;
    told = world_.now();
    progress_(std::to_string(unseen_) + " polls are missing", world_.age());
  }
  return std::exchange(unseen_, 0) == 0 ? seconds(world_.now() - started) : -1;
}

void Fleet::start(FleetFigures& into) {
  const Counted before = count();
  for (const auto& host : hosts_)
    world_.after(jitter_.between(Duration{0}, Duration(at_once)),
                 [host = host.get()] { host->start(); });
  into.start_s = wait_for_all();
  // Each host peeks at each list once more when its channel is confirmed.
  settling_of_all_ = 2 * Duration(static_cast<Duration::rep>(std::max(into.start_s, 0.0) * 1e6));
  into.start_commands = static_cast<double>(count().load.commands - before.load.commands);
}

/// Waits for a period of length `calm` with few claims. Returns false if there was none.
bool Fleet::comes_to_rest(Duration calm, std::uint64_t claims_before) {
  const Instant end = world_.now() + max_unrest;
  while (claims_ - claims_before > seen_.size() / pairs_of_claim) {
    if (world_.now() >= end) return false;
    claims_before = claims_;
    pass(calm);
  }
  return true;
}

void Fleet::rest(double& per_s, double& busy) {
  const Counted before = count();
  pass(window);
  const Counted after = count();
  per_s = static_cast<double>(after.load.commands - before.load.commands) / seconds(window);
  busy = seconds(after.load.busy - before.load.busy) / seconds(window);
}

void Fleet::rest_empty(FleetFigures& into) {
  pass(settling_of_all_);
  const std::uint64_t claims_before = claims_;
  pass(settling);
  into.at_rest = comes_to_rest(settling, claims_before);
  rest(into.rest_per_s, into.rest_busy);
}

/// Waits until hosts have spent the deficit after a change of all lists. Returns false if the lists
/// do not become idle.
bool Fleet::pays_for_changes() {
  pass(settling);
  const std::uint64_t claims_before = claims_;
  const Duration calm = IdlePolls::longest_debt + settling_of_all_;
  pass(calm);
  return comes_to_rest(calm, claims_before);
}

void Fleet::rest_locked(FleetFigures& into) {
  for (unsigned i = 1; i <= size_.lists; ++i) {
    Words push{"RPUSH", list(i) + ":list"};
    for (unsigned k = 1; k <= resting_items; ++k) {
      push.push_back("resting" + std::to_string(k));
      redis_.command(
          "user",
          {"SET", list(i) + ":lock:" + push.back(), "delay:cooldown", "PX",
           std::to_string(
               std::chrono::duration_cast<std::chrono::milliseconds>(max_start * 10).count())});
    }
    redis_.command("user", push);
  }
  into.locked_at_rest = pays_for_changes();
  rest(into.locked_per_s, into.locked_busy);
  for (unsigned i = 1; i <= size_.lists; ++i) {
    Words forget{"DEL", list(i) + ":list"};
    for (unsigned k = 1; k <= resting_items; ++k)
      forget.push_back(list(i) + ":lock:resting" + std::to_string(k));
    redis_.command("user", forget);
  }
  into.locked_at_rest = pays_for_changes() && into.locked_at_rest;
}

/// Pushes items one by one to random lists and measures the time until a host claims each.
void Fleet::wake(FleetFigures& into, bool told) {
  latencies_.clear();
  const Instant started = world_.now();
  for (unsigned i = 0; i < pushes; ++i) {
    if (i >= min_pushes && world_.now() - started > max_pushing) break;
    const std::string to = list(1 + static_cast<unsigned>(jitter_.below(size_.lists)));
    const std::string item = "pushed" + std::to_string(i);
    pushed_[item] = world_.now();
    redis_.command("user", {"RPUSH", to + ":list", item});
    if (told) redis_.command("user", {"PUBLISH", to + ":wake", "free"});
    const Instant end = world_.now() + max_wake;
    while (pushed_.contains(item) && world_.now() < end) pass(5ms);
    redis_.command("user", {"LREM", to + ":list", "0", item});
    pass(push_pause);
  }
  into.unseen += static_cast<unsigned>(pushed_.size());
  pushed_.clear();
  std::sort(latencies_.begin(), latencies_.end());
  if (latencies_.empty()) return;
  (told ? into.wake_told_ms : into.wake_ms) = latencies_[latencies_.size() / 2];
  (told ? into.wake_told_worst_ms : into.wake_worst_ms) = latencies_.back();
}

/// Pushes more items than all slots to some lists and measures the load.
void Fleet::work(FleetFigures& into) {
  runs_take(std::chrono::milliseconds(static_cast<int>(run_s * 1000)));
  const unsigned lists = std::min(size_.lists, lists_at_work);
  const unsigned items = std::max(min_items, 2 * places_of_host * size_.hosts / lists);
  for (unsigned i = 1; i <= lists; ++i) {
    Words push{"RPUSH", list(i) + ":list"};
    for (unsigned k = 1; k <= items; ++k) push.push_back("item" + std::to_string(k));
    redis_.command("user", push);
    redis_.command("user", {"PUBLISH", list(i) + ":wake", "free"});
  }
  const Instant started = world_.now();
  pass(settling_to_work);
  Counted before = count();
  std::uint64_t elsewhere_before = peeks_elsewhere_;
  auto runs_before = runs_;
  pass(window);
  const auto runs_in_window = [&] {
    return static_cast<double>(
        std::accumulate(runs_.begin(), runs_.end(), std::uint64_t{0}) -
        std::accumulate(runs_before.begin(), runs_before.end(), std::uint64_t{0}));
  };
  const double expected = size_.hosts * places_of_host * seconds(window) / run_s;
  while (runs_in_window() < settled_part * expected &&
         world_.now() - started < max_settling_to_work) {
    before = count();
    elsewhere_before = peeks_elsewhere_;
    runs_before = runs_;
    pass(window);
  }
  into.settled_s = runs_in_window() < settled_part * expected ? -1 : seconds(before.at - started);
  const Counted after = count();
  std::vector<double> runs;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    runs.push_back(static_cast<double>(runs_[i] - runs_before[i]));
  const double sum = std::accumulate(runs.begin(), runs.end(), 0.0);
  const auto commands = static_cast<double>(after.load.commands - before.load.commands);
  into.work_per_s = commands / seconds(window);
  into.messages_per_s =
      static_cast<double>(after.load.messages - before.load.messages) / seconds(window);
  into.work_busy = seconds(after.load.busy - before.load.busy) / seconds(window);
  into.runs_per_s = sum / seconds(window);
  if (sum > 0) {
    const double mean = sum / static_cast<double>(runs.size());
    into.commands_per_run =
        (commands - static_cast<double>(peeks_elsewhere_ - elsewhere_before)) / sum;
    into.min_host = *std::min_element(runs.begin(), runs.end()) / mean;
    into.max_host = *std::max_element(runs.begin(), runs.end()) / mean;
  }
  for (unsigned i = 1; i <= lists; ++i) redis_.command("user", {"DEL", list(i) + ":list"});
}

/// Restarts Redis and measures the load while all hosts reconnect.
void Fleet::readmit(FleetFigures& into) {
  pass(settling + settling_of_all_);
  const Counted before = count();
  redis_.restart(at_once, false, Duration{0});
  pass(at_once);
  into.back_s = wait_for_all();
  const Counted after = count();
  into.back_commands = static_cast<double>(after.load.commands - before.load.commands);
  into.back_lost = after.load.ended - before.load.ended;
}

FleetFigures Fleet::measure() {
  FleetFigures stats;
  start(stats);
  progress_("started", world_.age());
  rest_empty(stats);
  progress_(stats.at_rest ? "idle" : "not idle", world_.age());
  wake(stats, true);
  wake(stats, false);
  progress_("woken", world_.age());
  rest_locked(stats);
  progress_(stats.locked_at_rest ? "idle, locked" : "not idle, locked", world_.age());
  work(stats);
  progress_("active", world_.age());
  readmit(stats);
  progress_("reconnected", world_.age());
  return stats;
}

}  // namespace

FleetFigures measure_fleet(const FleetSize& size, const ServiceTimes& times,
                           const Progress& progress) {
  return Fleet(size, times, progress).measure();
}

}  // namespace w8y::sim
