// Reload in steps. The config in force does not change until the new one is applied, so that each
// earlier step may fail without harm. States:
//
//   starting    the first config is not in force yet; a requested reload waits for that
//   idle        there is no reload
//   due         starts in the next loop iteration
//   reading     the file is being read
//   connecting  the config names another Redis; the new connection is open and is being tested
//   preparing   status addresses and the log file of the config are prepared
//   applying    the supervisor probes new lists, and then applies all changes at once; cannot fail
//   closed      the host drains; there are no more reloads
//
// All reloads that are requested during a reload cause one further reload after it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/control.hpp"
#include "config/loading.hpp"
#include "core/clock.hpp"
#include "core/events.hpp"
#include "core/list_config.hpp"
#include "core/reload_plan.hpp"
#include "core/timers.hpp"

namespace w8y::app {

enum class ReloadState {
  starting,
  idle,
  due,
  reading,
  connecting,
  preparing,
  applying,
  closed,
};

/// Actions of a reload. Callbacks may be called at once or later, and may be dropped after
/// abandon().
class ReloadSteps {
 public:
  virtual ~ReloadSteps() = default;

  [[nodiscard]] virtual ConfigPtr in_force() const = 0;
  /// Returns the number of configs applied since the start.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;

  using Read = std::function<void(config::LoadResult&& result)>;
  virtual void read(ConfigPtr running, Read then) = 0;
  /// Returns whether `wanted` needs the connection in use.
  [[nodiscard]] virtual bool same_connection(const Config& running, const Config& wanted) const = 0;
  /// Opens the connection of `wanted` beside the one in use. `why`: reason why it is unusable;
  /// empty: it is usable.
  using Connected = std::function<void(const std::string& why)>;
  virtual void connect(const Config& wanted, Connected then) = 0;
  /// Prepares the parts of this host for `wanted`. Returns why this is not possible; empty: they
  /// are prepared.
  virtual std::string prepare(const Config& running, const Config& wanted) = 0;
  /// Applies the opened connection, the prepared parts and the config.
  using Applied = std::function<void(const ReloadPlan& plan)>;
  virtual void apply(ConfigPtr wanted, Applied then) = 0;
  /// Drops the opened connection and the prepared parts, if any.
  virtual void abandon() = 0;
  /// Frees a config. This takes long with 10,000 lists.
  virtual void discard(ConfigPtr config) = 0;
};

class Reload {
 public:
  using Answer = api::Control::Answer;
  struct Result {
    std::string text;  ///< one line; empty: there was no reload yet
    WallTime at{0};
    bool failed = false;
  };

  /// `file`: "-" cannot be read again.
  Reload(const Clock& clock, TimerQueue& timers, std::string file, ReloadSteps& steps,
         EventHandler& events);

  /// Called when the first config is in force.
  void started();
  /// Requests a reload. `answer` may be empty. It is called with the result of a reload that reads
  /// the file after this call, or at once if a reload is not possible.
  void request(Answer answer);
  /// Prevents reloads, because the host drains. Drops the current reload and calls all waiting
  /// callbacks.
  void close();

  [[nodiscard]] ReloadState state() const { return state_; }
  [[nodiscard]] const Result& last() const { return last_; }

 private:
  /// Current reload. Callbacks that run after its end find it destroyed.
  struct Attempt {
    ConfigPtr running;  ///< config in force during the reload
    ConfigPtr wanted;   ///< nullptr: not read yet
  };

  void set_state(ReloadState state) { state_ = state; }
  template <typename Value>
  std::function<void(Value)> while_it_goes_on(void (Reload::*step)(Value));
  void begin();
  void start_next();
  void was_read(config::LoadResult&& result);
  void was_connected(const std::string& why);
  void prepare();
  void was_applied(const ReloadPlan& plan);
  void fail(const std::string& why, std::vector<std::string> lines);
  void finish(const api::CommandResult& result);

  const Clock& clock_;
  const std::string file_;
  ReloadSteps& steps_;
  EventHandler& events_;
  ReloadState state_ = ReloadState::starting;
  std::shared_ptr<Attempt> attempt_;
  std::vector<Answer> callbacks_;     ///< for the current reload, or the due one
  std::vector<Answer> next_answers_;  ///< for the reload after it
  bool again_ = false;                ///< whether another reload follows
  Result last_;
  Timer due_;
};

}  // namespace w8y::app
