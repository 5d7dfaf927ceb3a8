// Checks whether this host is eligible for lists: their prerequisites, and the capabilities of
// their program (`EXECUTOR [args…] --caps`).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
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

/// Program to probe, with its arguments and user.
struct ProbeRequest {
  std::string path;
  std::vector<std::string> args;
  RunAs run_as;  ///< user and group of the list's runs
  auto operator<=>(const ProbeRequest&) const = default;
};

/// Prober for programs and prerequisites. Equal requests at the same time are probed once, and all
/// get the same result. Up to `at_once` programs are probed at a time.
class ProcessProber : public Prober {
 public:
  explicit ProcessProber(loop::Loop& loop, process::ControlGroups* groups = nullptr,
                         process::SpawnService* spawns = nullptr);
  ~ProcessProber() override;

  // Prober
  void look_for(const ListConfig& rule, Duration timeout, Answer answer) override;
  /// Probes only the program: runs `PATH ARGS… --caps`.
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
  std::map<ProbeRequest, std::unique_ptr<Probe>> probes_;  ///< without a result so far
  std::deque<Probe*> waiting_;                    ///< probes in `asked_` that are not started yet
  std::size_t running_ = 0;                       ///< number of probes in `asked_` that are started
  std::vector<std::unique_ptr<Probe>> finished_;  ///< their programs may still be ending
  Timer sweep_;
};

}  // namespace w8y::executor
