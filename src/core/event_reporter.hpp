// Reports the notifications of a host's lists as events.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "core/events.hpp"
#include "core/served_list.hpp"

namespace w8y {

class EventReporter final : public ServedListObserver {
 public:
  explicit EventReporter(EventHandler& events) : events_(events) {}

  void run_started(const Poller& poller, const ActiveRun& run) override;
  void run_message(const Poller& poller, const ActiveRun& run, const Message& message) override;
  void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                  bool cut) override;
  void run_ended(const Poller& poller, const EndedRun& run) override;
  void process_changed(const Poller& poller, int pid, const ProcessEvent& news) override;
  void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) override;
  void item_quarantined(const Poller& poller, const DisplayItem& item,
                        const std::string& why) override;
  void settlement_abandoned(const Poller& poller, const RunId& run,
                            const std::string& why) override;
  void write_error_changed(const Poller& poller) override;
  void state_changed(Poller& poller) override;
  void shortage_changed(const Poller& poller) override;
  void list_refused(const ListConfig& rule, const Ineligibility& refusal) override;
  void list_served(const ListConfig& rule, const Caps& caps) override;
  void maintenance_changed(const ListConfig& rule, const std::string& why) override;

 private:
  EventHandler& events_;
  /// Pollers whose claims Redis refuses, so that only a change of this is an event.
  std::unordered_set<const Poller*> refused_;
  std::unordered_set<const Poller*> paused_;
  std::unordered_set<const Poller*> open_;  ///< with an open breaker
};

}  // namespace w8y
