// What a connection has begun and not ended: WATCH, MULTI, and what is queued for EXEC. As a Redis
// does it; held against a real one by the test `simulation-model`.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulation/value.hpp"

namespace w8y::sim {

class Transaction {
 public:
  struct Rules {
    /// Why a command is refused before it is carried out; empty: it isn't.
    std::function<std::string(const Words& words)> refusal;
    /// A key that is watched may have come to its end.
    std::function<void(const std::string& key)> look;
    /// All that was queued, in one step.
    std::function<Value(const std::vector<Words>& queued)> execute;
  };

  /// The reply, if this is a command of a transaction or one that is queued; nullopt: it is to be
  /// carried out now.
  std::optional<Value> take(const Words& words, const Rules& rules);
  /// A command was refused: what is begun will not be carried out.
  void refused() { broken_ = open_; }
  void touched(const std::string& key) { changed_ = changed_ || watched_.contains(key); }
  [[nodiscard]] bool watches() const { return !watched_.empty(); }
  [[nodiscard]] bool open() const { return open_; }

 private:
  Value exec(const Rules& rules);
  Value queue(const Words& words, const Rules& rules);
  void unwatch();
  void end();

  bool open_ = false;
  bool broken_ = false;
  bool changed_ = false;
  std::set<std::string> watched_;
  std::vector<Words> queued_;
};

}  // namespace w8y::sim
