// What a worker says to one gearmand, and hears from it: the port behind which sockets stand.
//
// The connection is made again whenever it breaks. A server counts as there when it has answered
// once on the connection: one that accepts and says nothing is of no use.
//
//   down       no connection: the next try comes after a pause
//   connecting it is being made, or has not answered yet
//   up         it may be asked for jobs
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
  bool cut = false;  ///< the workload is longer than it may be, and is not here
};

class Worker;

/// Never told from inside a call of the worker's.
class WorkerHandler {
 public:
  virtual void on_up(Worker& worker) = 0;
  /// Or: the first try has failed. Jobs of that connection are another's now. Told at each end
  /// of a connection that was up, and once when it can't be made.
  virtual void on_down(Worker& worker, const std::string& why) = 0;
  /// The answer to a grab().
  virtual void on_job(Worker& worker, Job&& job) = 0;
  virtual void on_no_job(Worker& worker) = 0;
  /// It was asleep: there may be jobs.
  virtual void on_woken(Worker& worker) = 0;
  /// The server has done all that was said before mark() gave this number, or an earlier one.
  virtual void on_confirmed(Worker& worker, std::uint64_t mark) = 0;
  /// The server refuses something; it goes on.
  virtual void on_error(Worker& worker, const std::string& why) = 0;

 protected:
  ~WorkerHandler() = default;
};

/// May be destroyed at any time but in its own callbacks.
class Worker {
 public:
  enum class State { down, connecting, up };

  virtual ~Worker() = default;
  [[nodiscard]] virtual State state() const = 0;
  [[nodiscard]] virtual const GearmanServer& server() const = 0;
  /// Why it is down; empty: it is not, or was not tried yet.
  [[nodiscard]] virtual const std::string& error() const = 0;
  /// Names a connection: jobs of an earlier one are not ours any more.
  [[nodiscard]] virtual std::uint64_t connection() const = 0;
  /// grab()s that have not been answered.
  [[nodiscard]] virtual std::size_t asked() const = 0;
  [[nodiscard]] virtual bool asleep() const = 0;

  /// Whether the server may count on us for this function; at any time, also of the connections to
  /// come.
  virtual void offer(const std::string& function, bool able) = 0;
  // While it is up; else they do nothing.
  virtual void grab() = 0;
  /// Asks to be woken. Every grab() has been answered.
  virtual void sleep() = 0;
  /// A packet (request()).
  virtual void send(std::string packet) = 0;
  /// Asks for an on_confirmed() of what was said so far. Where a grab() follows in the same turn of
  /// the loop, it comes just before that one's answer.
  virtual std::uint64_t mark() = 0;
};

/// Who has workers: is told of servers that come and go.
class ServersUser {
 public:
  /// servers() is another list, or they are reached otherwise.
  virtual void on_servers() = 0;
  /// Adds what it knows to the status of each server that is its own.
  virtual void add_to(std::vector<GearmanStatus>& servers) const = 0;

 protected:
  ~ServersUser() = default;
};

/// The servers of a host, which all lists of Gearman share.
class Servers {
 public:
  virtual ~Servers() = default;
  [[nodiscard]] virtual const std::vector<GearmanServer>& servers() const = 0;
  /// Grows when servers() has become another list, or connect_timeout has.
  [[nodiscard]] virtual std::uint64_t version() const = 0;
  virtual std::unique_ptr<Worker> connect(const GearmanServer& server, WorkerHandler& handler) = 0;
  virtual void add(ServersUser& user) = 0;
  virtual void remove(ServersUser& user) = 0;
  // What becomes of connections is told to people once for each server, however many lists it has.
  virtual void told_up(const Worker& worker) = 0;
  virtual void told_down(const Worker& worker, const std::string& why) = 0;
  /// It is no longer used.
  virtual void forget(const Worker& worker) = 0;
  virtual void note(const GearmanServer& server, const std::string& list,
                    const std::string& why) = 0;
};

}  // namespace w8y::gearman
