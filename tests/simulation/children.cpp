#include "simulation/children.hpp"

#include <csignal>
#include <utility>

namespace w8y::sim {

namespace {

constexpr Duration birth = std::chrono::milliseconds(1);
constexpr Duration death = std::chrono::microseconds(500);
constexpr Duration max_story = std::chrono::seconds(4);

}  // namespace

/// Executor of scripted children. Its destructor kills them, as the kernel does when their host
/// dies.
class ScriptedExecutor final : public Executor,
                               public std::enable_shared_from_this<ScriptedExecutor> {
 public:
  ScriptedExecutor(Children& all, Inbox& host, RunHandler& handler)
      : all_(all), host_(host), handler_(handler) {}
  ~ScriptedExecutor() override {
    for (auto& [run, life] : lives_)
      if (life.alive) all_.watcher_.child_dead(life.child);
  }
  ScriptedExecutor(const ScriptedExecutor&) = delete;
  ScriptedExecutor& operator=(const ScriptedExecutor&) = delete;

  void start(const Claim& claim, ListConfigPtr rule) override {
    const RunId run = claim.run;
    Life& life = lives_[run];
    life.child = {host_.name(), rule->prefix, claim, rule, all_.script_of(*rule, claim.item), 0};
    if (life.child.story.end == ChildScript::End::is_not_started) {
      const auto end = std::make_shared<RunEnd>();
      NotStarted why;
      why.reason = "fork: Resource temporarily unavailable";
      why.host_is_short = true;
      end->process = why;
      return ended(run, end);
    }
    after(birth, run, [this](Life& born) {
      born.child.pid = ++all_.pids_;
      born.alive = true;
      all_.watcher_.child_born(born.child);
      script_of([this, id = born.child.claim.run, pid = born.child.pid] {
        if (lives_.contains(id)) handler_.on_started(id, pid);
      });
      if (born.child.story.completes) send_complete(born);
      after(born.child.story.duration, born.child.claim.run, [this](Life& over) { end(over); });
      if (born.killed) signal(born.child.claim.run, Duration{0}, SIGKILL);
    });
  }

  void stop(const RunId& run) override {
    const auto found = lives_.find(run);
    if (found == lives_.end() || std::exchange(found->second.reported, true)) return;
    const ChildScript& story = found->second.child.story;
    if (!story.ignores) signal(run, birth + story.heeds, SIGTERM);
    // The kill uses the timer of the host, so that a stalled host kills later.
    after(found->second.child.rule->kill_grace, run,
          [this, run](Life&) { script_of([this, run] { kill(run); }); });
  }
  void kill(const RunId& run) override {
    const auto found = lives_.find(run);
    if (found == lives_.end()) return;
    found->second.killed = true;
    if (found->second.alive) signal(run, death, SIGKILL);
  }

 private:
  struct Life {
    Child child;
    bool alive = false;
    bool reported = false;  ///< SIGTERM was sent
    bool killed = false;    ///< as soon as it has started
  };

  template <typename Then>
  void after(Duration pause, const RunId& run, Then then) {
    all_.world_.after(pause, [weak = weak_from_this(), this, run, then] {
      const auto self = weak.lock();
      if (!self) return;
      const auto found = lives_.find(run);
      if (found != lives_.end()) then(found->second);
    });
  }
  void script_of(std::function<void()> what) {
    host_.deliver([weak = weak_from_this(), what = std::move(what)] {
      if (const auto self = weak.lock()) what();
    });
  }
  void signal(const RunId& run, Duration in, int number) {
    after(in, run, [this, number](Life& life) {
      if (!life.alive) return;
      die(life);
      const auto end = std::make_shared<RunEnd>();
      end->process = Signalled{number};
      ended(life.child.claim.run, end);
    });
  }
  /// Sends progress and then `complete`.
  void send_complete(const Life& life) {
    const auto say = [this, run = life.child.claim.run](Duration in, Message message) {
      after(in, run, [this, run, message](const Life& speaker) {
        if (speaker.alive)
          script_of([this, run, message] {
            if (lives_.contains(run)) handler_.on_message(run, Message(message));
          });
      });
    };
    say(*life.child.story.completes / 2, Progress{1, 2});
    say(*life.child.story.completes, complete_message());
  }
  static Complete complete_message() {
    Complete complete;
    complete.result = "{}";
    return complete;
  }
  void die(Life& life) {
    life.alive = false;
    all_.watcher_.child_dead(life.child);
  }
  /// Ends a child without a signal.
  void end(Life& life) {
    if (!life.alive) return;
    die(life);
    const auto end = std::make_shared<RunEnd>();
    if (life.child.story.completes) end->complete = complete_message();
    switch (life.child.story.end) {
      case ChildScript::End::succeeds:
        end->process = Exited{0};
        if (life.child.story.cooldown) {
          if (!end->complete) end->complete = Complete{};
          end->complete->cooldown = life.child.story.cooldown;
        }
        break;
      case ChildScript::End::fails:
        end->process = Exited{3};
        break;
      case ChildScript::End::crashes:
      case ChildScript::End::is_not_started:
        end->process = Signalled{SIGSEGV};
        break;
    }
    ended(life.child.claim.run, end);
  }
  void ended(const RunId& run, std::shared_ptr<RunEnd> end) {
    all_.world_.after(death, [weak = weak_from_this(), this, run, end = std::move(end)] {
      const auto self = weak.lock();
      if (!self) return;
      script_of([this, run, end] {
        if (lives_.erase(run) > 0) handler_.on_ended(run, std::move(*end));
      });
    });
  }

  Children& all_;
  Inbox& host_;
  RunHandler& handler_;
  std::map<RunId, Life> lives_;
};

std::shared_ptr<Executor> Children::make_executor(Inbox& host, const ListConfig&,
                                                  RunHandler& handler) {
  return std::make_shared<ScriptedExecutor>(*this, host, handler);
}

ChildScript Children::script_of(const ListConfig& rule, const Item& item) {
  const ItemBehaviour& manner = manners[rule.prefix];
  ChildScript story;
  story.duration = random_.between(manner.shortest, manner.longest);
  if (manner.long_ones > 0 && random_.chance(manner.long_ones))
    story.duration = random_.between(Duration{0}, max_story);
  if (manner.steady) return story;
  story.heeds = random_.between(Duration{0}, Duration(std::chrono::milliseconds(300)));
  story.ignores = random_.chance(manner.stubborn);
  if (manner.telling > 0 && random_.chance(manner.telling)) story.completes = story.duration / 2;
  const auto dice = random_.below(100);
  if (item.starts_with("bad") || dice < manner.failing) {
    story.end = dice % 3 == 0 ? ChildScript::End::crashes : ChildScript::End::fails;
  } else if (dice == 99) {
    story.end = ChildScript::End::is_not_started;
  } else if (dice > 90) {
    story.cooldown = random_.between(Duration{0}, Duration(std::chrono::seconds(5)));
  }
  if (const auto outage = outages.find(rule.prefix);
      outage != outages.end() && world_.now() < outage->second) {
    story.end = ChildScript::End::fails;
    story.cooldown.reset();
    story.completes.reset();
  }
  return story;
}

}  // namespace w8y::sim
