// Starts programs by a helper process, with a deadline, so that a start never blocks the loop.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.hpp"
#include "core/timers.hpp"
#include "loop/watch.hpp"
#include "process/spawn.hpp"
#include "process/spawn_modes.hpp"
#include "process/spawn_protocol.hpp"

namespace w8y::process {

class Child;
class ControlGroups;
class PendingSpawn;

struct SpawnServiceOptions {
  /// Command line of the helper: a program that calls run_spawn_helper().
  std::vector<std::string> helper = {"/proc/self/exe", "--spawn-helper"};
  /// Time until the exec; after that the child is killed.
  Duration limit = std::chrono::seconds(10);
  ControlGroups* groups = nullptr;  ///< source of a group for the helper
};

/// Spawn service of a loop. It outlives the children that use it. The helper is started when it is
/// first needed, and again if it ends.
class SpawnService {
 public:
  explicit SpawnService(loop::Loop& loop, SpawnServiceOptions options = {});
  ~SpawnService();
  SpawnService(const SpawnService&) = delete;
  SpawnService& operator=(const SpawnService&) = delete;

  /// Returns whether the loop may wait for the start.
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

  /// Sends a request and returns its ID; the reply goes to `asker`. Throws std::system_error.
  std::uint64_t request(PendingSpawn& asker, const SpawnRequest& request, SpawnFds&& fds);
  void forget(std::uint64_t id);
  void await_way(PendingSpawn& asker) { undecided_.push_back(&asker); }
  void decide();

  void start_helper();
  void send_waiting();
  int send(const Waiting& request);
  void handle_reply();
  void on_reply(const SpawnReply& reply, Fd&& pidfd);
  void helper_ended(const std::string& why);

  loop::Loop& loop_;
  const SpawnServiceOptions options_;
  SpawnModes ways_;
  std::vector<PendingSpawn*> undecided_;  ///< wait for their mode; nullptr: destroyed
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, PendingSpawn*> requested_;  ///< no reply yet; nullptr: destroyed
  std::deque<Waiting> waiting_;  ///< requests in `asked_` that are not sent yet
  /// One descriptor for each request that was sent, in the order of the requests: the standard
  /// input of the child. It is closed when the reply arrives, to free its entry in the descriptor
  /// table for the descriptor in the reply.
  std::deque<Fd> places_;
  Fd socket_;
  std::optional<loop::Watch> watch_;  // after socket_, so destroyed first
  std::unique_ptr<Process> process_;
  Timer sweep_;
  std::vector<std::unique_ptr<Process>> dead_;
};

class SpawnClient {
 public:
  virtual ~SpawnClient() = default;
  /// Called when the child has called exec, or was killed by kill() before that.
  virtual void on_spawned(Spawned&& spawned) = 0;
  virtual void on_not_spawned(const SpawnError& error) = 0;
};

/// Spawn that has not ended. The loop calls its client once. If it is destroyed before, its child
/// is killed. States:
///
/// - `deciding` – it is not known yet whether the loop may wait for the start
/// - `requested` – the request was sent to the helper
/// - `started` – the child has a PID and has not called exec yet
/// - `done` – its client was called
class PendingSpawn {
 public:
  /// `streams`: the child's 0, 1 and 2; for an empty one, `request` has a descriptor of another
  /// owner.
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
  void request_helper();
  void on_reply(const SpawnReply& reply, Fd&& pidfd);
  void on_status();
  void on_deadline();
  void fail(const SpawnError& error);
  void succeed();
  void abandon();
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
  std::optional<loop::Watch> watch_;  // after status_, so destroyed first
  Timer deadline_;
};

}  // namespace w8y::process
