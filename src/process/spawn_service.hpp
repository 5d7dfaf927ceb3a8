// Starts that w8yd's loop doesn't wait for: by a helper process, with a deadline.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "loop/watch.hpp"
#include "process/fd.hpp"
#include "process/spawn.hpp"
#include "process/spawn_modes.hpp"
#include "process/spawn_protocol.hpp"

namespace w8y::process {

class Child;
class ControlGroups;
class PendingSpawn;

struct SpawnServiceOptions {
  /// The helper's command line: a program that calls run_spawn_helper().
  std::vector<std::string> helper = {"/proc/self/exe", "--spawn-helper"};
  /// A child that has not come to its exec by then is killed.
  Duration limit = std::chrono::seconds(10);
  ControlGroups* groups = nullptr;  ///< one of them is for the helper
};

/// One for a loop; outlives the children that use it. The helper is started when it is first
/// needed, and again if it ends.
class SpawnService {
 public:
  explicit SpawnService(loop::Loop& loop, SpawnServiceOptions options = {});
  ~SpawnService();
  SpawnService(const SpawnService&) = delete;
  SpawnService& operator=(const SpawnService&) = delete;

  /// Whether it is known that the start can be waited for.
  bool is_direct(const SpawnRequest& request) {
    return ways_.way(request) == SpawnModes::SpawnMode::direct;
  }
  [[nodiscard]] pid_t helper() const;  ///< 0: not running

 private:
  friend class PendingSpawn;
  class Process;
  struct Waiting {
    std::uint64_t id = 0;
    std::string bytes;
    SpawnFds fds;
  };

  /// Returns its number; the reply goes to `asker`. Throws std::system_error.
  std::uint64_t ask(PendingSpawn& asker, const SpawnRequest& request, SpawnFds&& fds);
  void forget(std::uint64_t id);
  void await_way(PendingSpawn& asker) { undecided_.push_back(&asker); }
  void decide();

  void start_helper();
  void send_waiting();
  int send(const Waiting& request);
  void take_reply();
  void on_reply(const SpawnReply& reply, Fd&& pidfd);
  void helper_ended(const std::string& why);

  loop::Loop& loop_;
  const SpawnServiceOptions options_;
  SpawnModes ways_;
  std::vector<PendingSpawn*> undecided_;  ///< nullptr: gone meanwhile
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, PendingSpawn*> asked_;  ///< not answered; nullptr: nobody waits for it
  std::deque<Waiting> waiting_;                   ///< of those, not sent yet
  /// The child's standard input of each request that was sent, until its reply comes; replies come
  /// in the same order. Each keeps a place in our table of descriptors for the one that its reply
  /// brings.
  std::deque<Fd> places_;
  Fd socket_;
  std::optional<loop::Watch> watch_;  // after socket_: goes first
  std::unique_ptr<Process> process_;
  Timer sweep_;
  std::vector<std::unique_ptr<Process>> dead_;
};

class SpawnClient {
 public:
  virtual ~SpawnClient() = default;
  /// It has called exec, or was killed by kill() on its way there.
  virtual void on_spawned(Spawned&& spawned) = 0;
  virtual void on_not_spawned(const SpawnError& error) = 0;
};

/// A start on its way:
///   deciding  nobody knows yet whether it can be waited for
///   asked     the helper was asked
///   born      it has a number, and has not come to its exec
///   over      its client was told
/// Its client is told from the loop, once. Destroying it before kills what comes of it.
class PendingSpawn {
 public:
  /// `streams`: the child's 0, 1 and 2; each that is empty stands in `request` and is another's.
  PendingSpawn(loop::Loop& loop, SpawnService& service, SpawnRequest request,
               std::array<Fd, 3> streams, SpawnClient& client);
  ~PendingSpawn();
  PendingSpawn(const PendingSpawn&) = delete;
  PendingSpawn& operator=(const PendingSpawn&) = delete;

  [[nodiscard]] pid_t pid() const { return born_.pid; }
  void kill();

 private:
  friend class SpawnService;
  enum class State { deciding, requested, started, done };

  void decide();
  void start_directly();
  void ask_helper();
  void on_reply(const SpawnReply& reply, Fd&& pidfd);
  void on_status();
  void on_deadline();
  void fail(const SpawnError& error);
  void succeed();
  void let_go();
  void forget_request();

  loop::Loop& loop_;
  SpawnService& service_;
  SpawnRequest request_;
  std::array<Fd, 3> streams_;
  SpawnClient& client_;
  State state_ = State::deciding;
  std::uint64_t id_ = 0;
  bool killed_ = false;
  bool overdue_ = false;
  Spawned born_;  ///< its pidfd is in pidfd_
  Fd pidfd_;
  Fd status_;
  std::optional<loop::Watch> watch_;  // after status_: goes first
  Timer deadline_;
};

}  // namespace w8y::process
