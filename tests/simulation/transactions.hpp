// Model of a connection's open transaction: MULTI, and the commands that are queued for EXEC. The
// test `simulation-model` compares it with a real Redis.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulation/value.hpp"

namespace w8y::sim {

class Transaction {
 public:
  struct Rules {
    /// Why a command is refused before it is carried out; empty: it isn't.
    std::function<std::string(const Words& words)> refusal;
    /// All that was queued, in one step.
    std::function<Value(const std::vector<Words>& queued)> execute;
  };

  /// The reply, if this is a command of a transaction or one that is queued; nullopt: it is to be
  /// carried out now.
  std::optional<Value> take(const Words& words, const Rules& rules);
  /// A command was refused: what is begun will not be carried out.
  void refused() { broken_ = open_; }
  [[nodiscard]] bool open() const { return open_; }

 private:
  Value exec(const Rules& rules);
  Value queue(const Words& words, const Rules& rules);
  void end();

  bool open_ = false;
  bool broken_ = false;
  std::vector<Words> queued_;
};

}  // namespace w8y::sim
