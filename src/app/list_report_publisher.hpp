// List reports of this host for its fleet.
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

/// Reads a list after an event about it, and all lists every 20 s. Changes by runs cause no events
/// here, so that they cost nothing and are reported late.
class ListReportPublisher final : private ListStateSource {
 public:
  /// `urgent` is called when a report should be sent soon.
  ListReportPublisher(const Clock& clock, TimerQueue& timers, const Supervisor& supervisor,
                      std::function<void()> urgent);

  /// Sets whether the fleet receives reports. If so, all reports are sent again.
  void set_wanted(bool wanted);
  void on_event(const Event& event);
  /// Reads all lists, because any of them may have changed.
  void check_all();
  [[nodiscard]] std::vector<ListReportTracker::Change> drain(std::size_t most, bool lively) {
    return published_.drain(most, lively);
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
  ListReportTracker published_;
  bool wanted_ = false;
  std::unordered_set<std::string> due_;  ///< prefixes of lists to read
  bool walking_ = false;
  bool walk_again_ = false;
  ListIteration walks_;
  Timer check_timer_;
  Timer walk_;
};

}  // namespace w8y::app
