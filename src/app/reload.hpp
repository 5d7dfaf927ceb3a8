// A reload, step by step. Until it is applied, what is in force stays whole: each step may fail
// without harm.
//
//   starting    the first config is not in force yet; a reload that is asked for waits for that
//   idle        there is none
//   due         begins in the next turn of the loop
//   reading     the file is being read
//   connecting  Redis is to be reached in another way: the new connection is open, and has to work
//   preparing   what the config asks of the host (status addresses, the log file) is made ready
//   applying    the supervisor probes what is new, and then applies all at once; can't fail
//   closed      the host drains: there will be none
//
// One that is asked for while another goes on is done once more after it, however often that was.
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

/// What a reload does, and to what. Answers may come at once or later; who is asked may drop them
/// after abandon().
class ReloadSteps {
 public:
  virtual ~ReloadSteps() = default;

  [[nodiscard]] virtual ConfigPtr in_force() const = 0;
  /// Of configs applied since the start.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;

  using Read = std::function<void(config::LoadResult&& result)>;
  virtual void read(ConfigPtr running, Read then) = 0;
  /// Whether the connection in use is what `wanted` asks for.
  [[nodiscard]] virtual bool same_connection(const Config& running, const Config& wanted) const = 0;
  /// Opens the connection that `wanted` asks for, beside the one in use. `why`: it can't be used;
  /// empty: it can.
  using Connected = std::function<void(const std::string& why)>;
  virtual void connect(const Config& wanted, Connected then) = 0;
  /// Makes ready what `wanted` asks of this host. Returns why it can't; empty: it is ready.
  virtual std::string prepare(const Config& running, const Config& wanted) = 0;
  /// Takes what was opened and prepared, and the config.
  using Applied = std::function<void(const ReloadPlan& plan)>;
  virtual void apply(ConfigPtr wanted, Applied then) = 0;
  /// Drops what was opened and prepared, if anything was.
  virtual void abandon() = 0;
  /// Frees a config, which takes its time if there are ten thousand lists.
  virtual void discard(ConfigPtr config) = 0;
};

class Reload {
 public:
  using Answer = api::Control::Answer;
  struct Result {
    std::string text;  ///< one line; empty: there was none yet
    WallTime at{0};
    bool failed = false;
  };

  /// `file`: "-" can't be read again.
  Reload(const Clock& clock, TimerQueue& timers, std::string file, ReloadSteps& steps,
         EventHandler& events);

  /// The first config is in force.
  void started();
  /// `answer` may be empty. It is called when the file has been read after this call, and what came
  /// of it is known; or at once, if there can be no reload.
  void ask(Answer answer);
  /// The host drains: it takes no other config. One that goes on is dropped, and who waits is told.
  void close();

  [[nodiscard]] ReloadState state() const { return state_; }
  [[nodiscard]] const Result& last() const { return last_; }

 private:
  /// One that goes on. Answers that come after its end find it gone.
  struct Attempt {
    ConfigPtr running;  ///< what is in force until then
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
  std::vector<Answer> answers_;       ///< for the one that goes on, or is due
  std::vector<Answer> next_answers_;  ///< for the one after it
  bool again_ = false;                ///< there will be one after it
  Result last_;
  Timer due_;
};

}  // namespace w8y::app
