// Program of an operator on the virtual network: code of w8yctl and of the status API that sends
// requests to Redis and waits for the replies. It has a stack of its own and yields to the world
// while it waits.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/sync.hpp"
#include "simulation/network.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

/// Result of a command line of w8yctl.
struct CommandEnd {
  int exit = 0;
  std::string out;  ///< standard output
  std::string why;  ///< error message
  /// Redis did not reply, or replied with an error.
  bool unanswered = false;
};

class Operator final : public Inbox {
 public:
  using Errand = std::function<void(redis::SyncClient& client)>;
  /// Called with the error that the errand threw, or an empty string.
  using Over = std::function<void(const std::string& trouble)>;

  Operator(World& world, Network& network, std::string name);
  /// Aborts an errand that still waits.
  ~Operator() override;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Runs an errand on a connection of its own, as w8yctl does. Must not be called while busy().
  void run(const std::string& server, Errand errand, Over over);
  /// The same with the arguments of a command line of w8yctl.
  void command(const std::string& server, std::vector<std::string> words,
               std::function<void(const CommandEnd& end)> over);
  [[nodiscard]] bool busy() const { return busy_; }

  [[nodiscard]] const std::string& name() const override { return name_; }
  void deliver(std::function<void()> what) override;

 private:
  /// Clock of the world. After the end of the world, it is ahead, so that all timers are due.
  class OwnClock final : public Clock {
   public:
    explicit OwnClock(const World& world) : world_(world) {}
    [[nodiscard]] Instant now() const override { return world_.now() + ahead; }
    [[nodiscard]] WallTime wall() const override { return WallTime(world_.wall_us() / 1000); }
    Duration ahead{0};

   private:
    const World& world_;
  };

  static void enter();
  void begin(const std::string& server, std::function<void()> work);
  void do_errand(const Errand& errand, std::string& error);
  CommandEnd do_command(const std::vector<std::string>& words);
  void use(loop::Loop& loop, const std::function<void()>& work);
  void give_way();
  void resume();

  World& world_;
  Network& network_;
  const std::string name_;
  OwnClock clock_;
  std::string server_;
  std::function<void()> work_;
  bool busy_ = false;
  std::vector<std::function<void()>> inbox_;
  std::unique_ptr<char[]> stack_;
  ucontext_t outside_{};
  ucontext_t inside_{};
  loop::Loop* loop_ = nullptr;
  redis::SyncClient* client_ = nullptr;
  std::uint64_t waits_ = 0;
  bool is_inside_ = false;
  bool given_up_ = false;
};

}  // namespace w8y::sim
