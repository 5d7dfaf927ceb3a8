// What this host tells its fleet of its lists: how each is, where that has changed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "app/host_status.hpp"
#include "app/list_iteration.hpp"
#include "core/events.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "view/fleet.hpp"

namespace w8y::app {

/// Looks at a list when something has happened to it, and at all of them now and then: what runs
/// change is told late, and costs nothing when it happens.
class ListReportPublisher final : private ListStateSource {
 public:
  /// `urgent`: something is to be told soon.
  ListReportPublisher(const Clock& clock, TimerQueue& timers, const Supervisor& supervisor,
                      std::function<void()> urgent);

  /// Whether anybody is told. All is told again, from the beginning.
  void set_wanted(bool wanted);
  void on_event(const Event& event);
  /// All lists may have changed.
  void check_all();
  [[nodiscard]] std::vector<ListReportTracker::Change> take(std::size_t most, bool lively) {
    return told_.take(most, lively);
  }

 private:
  void add_to(ListStatus&) const override {}
  [[nodiscard]] WallTime now() const override { return clock_.wall(); }
  void check_list(std::string_view prefix);
  void check();
  void walked();

  const Clock& clock_;
  const Supervisor& supervisor_;
  const std::function<void()> urgent_;
  ListReportTracker told_;
  bool wanted_ = false;
  std::unordered_set<std::string> due_;  ///< prefixes to look at
  bool walking_ = false;
  bool walk_again_ = false;
  ListIteration walks_;
  Timer look_;
  Timer walk_;
};

}  // namespace w8y::app
