// Interface between a worker and one gearmand, implemented with sockets.
//
// The connection is re-established whenever it breaks. It is up when the server has replied once: a
// server that accepts connections and never replies is unusable.
//
//   down       no connection; the next attempt follows after a pause
//   connecting connecting, or waiting for the first reply
//   up         jobs may be requested
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/list_config.hpp"
#include "core/status.hpp"

namespace w8y::gearman {

struct Job {
  std::string handle;
  std::string function;
  std::string unique;  ///< may be empty
  std::string workload;
  bool cut = false;  ///< the workload is too long and was dropped
};

class Worker;

/// Callbacks of a Worker. Never called from inside a call of the worker.
class WorkerHandler {
 public:
  virtual void on_up(Worker& worker) = 0;
  /// Called at each end of a connection that was up, and once when the first attempt fails. The
  /// server gives the jobs of that connection to other workers.
  virtual void on_down(Worker& worker, const std::string& why) = 0;
  /// Called for the reply to a grab().
  virtual void on_job(Worker& worker, Job&& job) = 0;
  virtual void on_no_job(Worker& worker) = 0;
  /// Called when the server wakes a sleeping worker: there may be jobs.
  virtual void on_woken(Worker& worker) = 0;
  /// Called when the server has processed all packets sent before mark() returned this number, or
  /// an earlier one.
  virtual void on_confirmed(Worker& worker, std::uint64_t mark) = 0;
  /// Called when the server reports an error. The connection stays up.
  virtual void on_error(Worker& worker, const std::string& why) = 0;

 protected:
  ~WorkerHandler() = default;
};

/// Worker for one server. May be destroyed at any time except in its own callbacks.
class Worker {
 public:
  enum class State { down, connecting, up };

  virtual ~Worker() = default;
  [[nodiscard]] virtual State state() const = 0;
  [[nodiscard]] virtual const GearmanServer& server() const = 0;
  /// Reason for being down. Empty if it is not down, or was not tried yet.
  [[nodiscard]] virtual const std::string& error() const = 0;
  /// Number of grab()s in flight.
  [[nodiscard]] virtual std::size_t requested() const = 0;
  [[nodiscard]] virtual bool asleep() const = 0;

  /// Sets whether the server may send jobs of this function, on this and on later connections.
  /// Callable at any time.
  virtual void offer(const std::string& function, bool able) = 0;
  // The functions below do nothing unless the worker is up.
  virtual void grab() = 0;
  /// Requests a wake-up. Must not be called while a grab() has no reply.
  virtual void sleep() = 0;
  /// Sends a packet made by request().
  virtual void send(std::string packet) = 0;
  /// Requests an on_confirmed() for all packets sent so far. If a grab() follows in the same loop
  /// iteration, on_confirmed() comes just before the reply to it.
  virtual std::uint64_t mark() = 0;
};

/// User of workers. Receives changes of the servers.
class ServersUser {
 public:
  /// Called when servers() or the way to reach them has changed.
  virtual void on_servers() = 0;
  /// Adds the user's values to the status of each server that it uses.
  virtual void add_to(std::vector<GearmanStatus>& servers) const = 0;

 protected:
  ~ServersUser() = default;
};

/// The Gearman servers of a host, shared by all lists of Gearman.
class Servers {
 public:
  virtual ~Servers() = default;
  [[nodiscard]] virtual const std::vector<GearmanServer>& servers() const = 0;
  virtual std::unique_ptr<Worker> connect(const GearmanServer& server, WorkerHandler& handler) = 0;
  virtual void add(ServersUser& user) = 0;
  virtual void remove(ServersUser& user) = 0;
  // The outage of a server is reported once, regardless of the number of its lists.
  virtual void told_up(const Worker& worker) = 0;
  virtual void told_down(const Worker& worker, const std::string& why) = 0;
  /// Called when `worker` is no longer used.
  virtual void forget(const Worker& worker) = 0;
  virtual void on_problem(const GearmanServer& server, const std::string& list,
                          const std::string& why) = 0;
};

}  // namespace w8y::gearman
