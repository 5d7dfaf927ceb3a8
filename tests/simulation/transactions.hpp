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
    /// Returns the error if a command is refused before its execution, or an empty string.
    std::function<std::string(const Words& words)> refusal;
    /// Executes all queued commands in one step.
    std::function<Value(const std::vector<Words>& queued)> execute;
  };

  /// Returns the reply to a command of a transaction or to a queued command; nullopt if the command
  /// must be executed now.
  std::optional<Value> handle(const Words& words, const Rules& rules);
  /// Called when a command was refused. An open transaction will not be executed.
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
