// An operator's program on the virtual network: code of w8yctl and of the status API, which asks
// Redis, waits, and goes on. It has a stack of its own, and gives way to the world where it waits.
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

class Operator final : public Inbox {
 public:
  using Errand = std::function<void(redis::SyncClient& client)>;
  /// `trouble`: what the errand threw; empty: nothing.
  using Over = std::function<void(const std::string& trouble)>;

  Operator(World& world, Network& network, std::string name);
  /// What still waits is given up.
  ~Operator() override;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// By a connection of its own, as a command does. One after the other: not while busy().
  void run(const std::string& server, Errand errand, Over over);
  [[nodiscard]] bool busy() const { return errand_ != nullptr; }

  [[nodiscard]] const std::string& name() const override { return name_; }
  void deliver(std::function<void()> what) override;

 private:
  static void enter();
  void work();
  void do_errand(std::string& trouble);
  void give_way();
  void resume();

  World& world_;
  Network& network_;
  const std::string name_;
  const HostClock clock_;
  std::string server_;
  Errand errand_;
  Over over_;
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
