// Asks programs what they can do: `EXECUTOR [args…] --caps` (executor.md).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <w8y/executor.hpp>
#include <w8y/timers.hpp>

namespace w8y::loop {
class Loop;
}
namespace w8y::process {
class ControlGroups;
class SpawnService;
}  // namespace w8y::process

namespace w8y::executor {

/// A question that is asked again while it is being answered is not asked twice: all get the same
/// answer. Questions are asked side by side, but for so many that they would drown the host.
class ProcessProber : public Prober {
 public:
  explicit ProcessProber(loop::Loop& loop, process::ControlGroups* groups = nullptr,
                         process::SpawnService* spawns = nullptr);
  ~ProcessProber() override;

  // of Prober
  void probe(const ProbeQuestion& question, Duration timeout, Answer answer) override;
  ProbeResult find(const std::string& program) override;

 private:
  class Probe;
  friend class Probe;

  void begin_next();
  void on_answer(Probe& probe, const ProbeResult& result);
  void sweep();

  static constexpr std::size_t at_once = 64;

  loop::Loop& loop_;
  process::ControlGroups* groups_;
  process::SpawnService* spawns_;
  std::map<ProbeQuestion, std::unique_ptr<Probe>> asked_;  ///< not answered yet
  std::deque<Probe*> waiting_;                             ///< of those, not begun yet
  std::size_t running_ = 0;                                ///< and those begun
  std::vector<std::unique_ptr<Probe>> answered_;           ///< their programs may still be ending
  Timer sweep_;
};

}  // namespace w8y::executor
