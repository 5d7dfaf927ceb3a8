// Deletes records about items that clients have removed from their lists, and writes the records of
// interrupted runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "core/list_config.hpp"
#include "core/timers.hpp"

namespace w8y::store {

class ScriptLocks;

/// Deletes failures and quarantines of items that are no longer in their list, and writes the
/// records of interrupted runs. It sends one call every 10 s, or every 1 s while there is something
/// to delete, for at most most_lists lists in turn. Several hosts may do the same. The idle
/// budget does not count these calls.
class Sweep {
 public:
  static constexpr Duration pause = std::chrono::seconds(10);
  static constexpr Duration busy_pause = std::chrono::seconds(1);
  static constexpr std::size_t most_lists = 64;

  /// In a cluster, lists in several hash slots cannot share a call, so each is swept alone. `seed`
  /// spreads the first sweeps of hosts.
  Sweep(ScriptLocks& store, TimerQueue& timers, const Clock& clock, bool cluster,
        std::uint64_t seed);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  /// A circular list that is swept from its construction to its destruction.
  class Swept {
   public:
    explicit Swept(Sweep& sweep);
    virtual ~Swept();
    Swept(const Swept&) = delete;
    Swept& operator=(const Swept&) = delete;

   private:
    friend class Sweep;
    /// Returns nullptr if the list is not swept at present.
    [[nodiscard]] virtual ListConfigPtr swept_rule() const = 0;

    Sweep& sweep_;
    std::list<Swept*>::iterator place_;
  };

  /// Number of circular lists.
  [[nodiscard]] std::size_t lists() const { return lists_.size(); }
  /// Configs of the lists that are swept at present.
  [[nodiscard]] std::list<ListConfigPtr> rules() const;
  /// Sends the next call now.
  void step();

 private:
  void arm(Duration in);
  Swept& next_in_turn();
  void turn_back();

  std::list<Swept*> lists_;                          ///< in the order of construction
  std::list<Swept*>::iterator next_ = lists_.end();  ///< end(): the first list
  ScriptLocks& store_;
  const Clock& clock_;
  std::size_t most_;
  Duration first_pause_;
  bool asking_ = false;
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
