// Asks whether lists can be served here: what they need besides their program, and the program what
// it can do (`EXECUTOR [args…] --caps`).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/executor.hpp"
#include "core/timers.hpp"
#include "executor/prerequisite_checker.hpp"

namespace w8y::loop {
class Loop;
}
namespace w8y::process {
class ControlGroups;
class SpawnService;
}  // namespace w8y::process

namespace w8y::executor {

/// Which program to ask, how, and as whom.
struct ProbeRequest {
  std::string path;
  std::vector<std::string> args;
  RunAs run_as;  ///< of the list: what it says of itself is to be said by the same user
  auto operator<=>(const ProbeRequest&) const = default;
};

/// A question that is asked again while it is being answered is not asked twice: all get the same
/// answer. Questions are asked side by side, but for so many that they would drown the host.
class ProcessProber : public Prober {
 public:
  explicit ProcessProber(loop::Loop& loop, process::ControlGroups* groups = nullptr,
                         process::SpawnService* spawns = nullptr);
  ~ProcessProber() override;

  // of Prober
  void look_for(const ListConfig& rule, Duration timeout, Answer answer) override;
  /// Only the program: runs `PATH ARGS… --caps`.
  void probe(const ProbeRequest& question, Duration timeout, Answer answer);

 private:
  class Probe;
  friend class Probe;

  void start_next();
  void on_answer(Probe& probe, const ProbeResult& result);
  void sweep();

  static constexpr std::size_t at_once = 64;

  loop::Loop& loop_;
  process::ControlGroups* groups_;
  process::SpawnService* spawns_;
  PrerequisiteChecker needs_;
  std::map<ProbeRequest, std::unique_ptr<Probe>> asked_;  ///< not answered yet
  std::deque<Probe*> waiting_;                            ///< of those, not begun yet
  std::size_t running_ = 0;                               ///< and those begun
  std::vector<std::unique_ptr<Probe>> answered_;          ///< their programs may still be ending
  Timer sweep_;
};

}  // namespace w8y::executor
