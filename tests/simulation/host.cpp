#include "simulation/host.hpp"

#include <utility>

#include "core/config.hpp"
#include "redis/jitter.hpp"
#include "redis/transport.hpp"
#include "simulation/host_process.hpp"

namespace w8y::sim {

namespace {

thread_local Network* network_in_use = nullptr;
thread_local Random* jitter_in_use = nullptr;

/// Files and environment of a simulated host, which has none.
class NoFiles final : public ConfigHost {
 public:
  File read(const std::string&) override { return {"", "not found"}; }
  std::vector<std::string> glob(const std::string&) override { return {}; }
  std::string hostname() override { return "simulated"; }
  std::string variable(const std::string&) override { return {}; }
  bool is_root() override { return false; }
  std::string missing(const std::string&) override { return {}; }
  std::string distrust(const std::string&) override { return {}; }
};

}  // namespace

ConfigPtr parse(const std::string& text) {
  NoFiles files;
  Config config = parse_config(text, "w8y.toml", files);
  set_hashes(config);
  return std::make_shared<const Config>(std::move(config));
}

void use_network(Network* network, Random* random) {
  network_in_use = network;
  jitter_in_use = random;
  redis::provide_tls([](loop::Loop& loop, const redis::ClientOptions& options,
                        redis::Transport::Handler& handler) {
    return network_in_use->make(loop, options.url.server.host, handler);
  });
  redis::provide_randomness([] { return static_cast<std::uint32_t>(jitter_in_use->next()); });
}

Host::Host(World& world, Network& network, Children& children, HostWatcher& watcher,
           std::string name)
    : world_(world),
      network_(network),
      children_(children),
      watcher_(watcher),
      name_(std::move(name)),
      clock_(world),
      random_(world.random.fork(hash_of(name_))) {}

Host::~Host() = default;

void Host::deliver(std::function<void()> what) {
  if (!process_) return;
  if (stalled()) {
    waiting_.push_back(std::move(what));
    return;
  }
  turn(what);
}

void Host::turn(const std::function<void()>& what) {
  if (in_turn_) {
    // A call from within an iteration is delivered in the next one, as by a real loop.
    world_.after(Duration{1}, [this, what, life = life_] {
      if (life == life_) deliver(what);
    });
    return;
  }
  in_turn_ = true;
  if (what) what();
  process_->loop().step();
  in_turn_ = false;
  come_again();
}

/// Schedules an iteration for the time of the next timer.
void Host::come_again() {
  const auto next = process_->loop().timers().next();
  if (!next) return;
  const Instant at = std::max(*next, world_.now() + Duration{1});
  if (next_turn_ && *next_turn_ <= at) return;
  next_turn_ = at;
  world_.at(at, [this, at, life = life_] {
    if (life != life_ || next_turn_ != at) return;
    next_turn_.reset();
    if (stalled()) return;  // the timers run after the stall
    turn({});
  });
}

void Host::start() {
  if (process_) return;
  ++life_;
  ++pid_;
  started_ = world_.now();
  world_.log(name_, "", "starts");
  if (joins_fleet_) {
    const std::uint64_t number = random_.fork(3 + life_).next() >> 32U;
    id_ = name_ + '-' + std::to_string(10'000'000 + number % 90'000'000);
  }
  process_ = std::make_unique<Process>(*this, read_ ? read_ : parse(config_));
  process_->supervisor().share_polls_with(hosts_);
  turn({});
}

void Host::die() {
  if (!process_) return;
  world_.log(name_, "", "dies");
  ++life_;
  next_turn_.reset();
  waiting_.clear();
  stalled_until_ = {};
  process_.reset();
}

void Host::stall(Duration time) {
  if (!process_ || stalled()) return;
  world_.log(name_, "", "stalls for " + std::to_string(time.count() / 1000) + " ms");
  stalled_until_ = world_.now() + time;
  world_.at(stalled_until_, [this, life = life_] {
    if (life != life_) return;
    world_.log(name_, "", "continues");
    // Due timers run at the end of an iteration. Data that has arrived is read before.
    turn([this] {
      for (const auto& what : std::exchange(waiting_, {})) what();
    });
  });
}

void Host::reload() {
  deliver([this] { process_->reload().request({}); });
}

void Host::quiet(bool on) {
  deliver([this, on] { on ? process_->mode().quiet() : process_->mode().resume(); });
}

void Host::drain(std::function<void()> drained) {
  deliver([this, drained = std::move(drained)] { process_->drain(drained); });
}

void Host::cancel(const RunId& run) {
  deliver([this, run] { process_->supervisor().cancel(run); });
}

void Host::run_item(const std::string& list, const Item& item) {
  deliver([this, list, item] {
    if (process_->supervisor().lists().contains(list))
      process_->supervisor().run_item(list, item, [](const RunItemResult&) {});
  });
}

const Supervisor* Host::supervisor() const {
  return process_ ? &process_->supervisor() : nullptr;
}

bool Host::connected() const {
  return process_ && process_->connected();
}

HostState Host::state() const {
  return process_->mode().state();
}

std::size_t Host::kept() const {
  return process_ ? process_->kept() : 0;
}

std::string Host::server() const {
  return process_ ? process_->server() : std::string();
}

}  // namespace w8y::sim
