// Decides when to dispatch jobs of a schedule: when the next job is due, when a notification
// reports an earlier job, and with idle polls for changes without a notification.
//
// Any number of hosts may dispatch, since a dispatch is one atomic step in Redis. Hosts that are
// ineligible for the list, or have no free slot, dispatch as well.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/list_maintenance.hpp"
#include "core/timers.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::source {

class Dispatcher final : public ListMaintenance,
                         private store::ScheduleQueueHandler,
                         private IdlePolls::Sleeper {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::ScheduleQueue>(store::ScheduleQueueHandler&)>;
  /// Called at most once for each second up to which all due jobs are in their queues.
  using Note = std::function<void(const std::string& timefile, store::UnixSeconds time)>;

  Dispatcher(const Clock& clock, TimerQueue& timers, IdlePolls& idle,
             ListMaintenanceHandler& handler, const MakeQueue& make, Note note, ListConfigPtr rule);
  ~Dispatcher() override;

  void use(ListConfigPtr rule) override;

 private:
  enum class State {
    entering,  ///< waits for the admission of its first call
    asking,    ///< a call is in flight
    waiting,   ///< waits for a time, a notification or the next poll
  };
  /// Maximum and minimum interval of searches for jobs of dead hosts. The minimum applies if a
  /// lease is known to end. Each search costs one command on each host.
  static constexpr Duration recover_pause = std::chrono::seconds(5);
  static constexpr Duration least_recover_pause = std::chrono::milliseconds(250);
  /// Delay after a dispatch that was refused, regardless of wake-ups.
  static constexpr Duration after_trouble = std::chrono::seconds(1);
  /// Pause after a change of the timeline that made no job due. It doubles with each consecutive
  /// change of this kind. Settlements of runs are such changes, as well as the changes of clients.
  static constexpr Duration first_change_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;

  // store::ScheduleQueueHandler; the Source handles the other callbacks
  void on_dispatched(store::DispatchAnswer&& answer) override;
  void on_recovered(std::size_t put_back, std::optional<Duration> next) override;
  void on_news(store::ScheduleNews news) override;
  void on_back() override;
  void on_claimed(ClaimReply&&) override {}
  void on_lease_lost(const RunId&) override {}
  void on_lease_back(const RunId&) override {}
  void on_lease_expiring(const RunId&) override {}
  void on_all_settled() override {}
  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void enter();
  void ask();
  void next();
  void wait();
  void set_timer();
  void not_done(const store::DispatchAnswer& answer);
  void tell(const std::string& why);
  [[nodiscard]] Instant change_at() const;
  void note_fruit(bool found);

  const Clock& clock_;
  ListMaintenanceHandler& handler_;
  const Note note_;
  ListConfigPtr rule_;
  State state_ = State::entering;
  bool again_ = false;       ///< a notification arrived while a call was in flight
  bool looked_ = false;      ///< a dispatch was sent after the last notification
  bool changed_ = false;     ///< the timeline has changed since the last dispatch
  bool for_change_ = false;  ///< the dispatch in flight follows a change of the timeline
  unsigned fruitless_ = 0;   ///< consecutive dispatches that followed a change and found nothing
  Instant change_look_{};    ///< time of the last dispatch that followed a change
  std::optional<Instant> due_at_;
  Instant recover_at_{};
  Instant not_before_{};  ///< after an error, no dispatch is sent before this time
  store::UnixSeconds noted_ = 0;
  std::string trouble_;
  Timer timer_;
  std::unique_ptr<store::ScheduleQueue> queue_;
};

}  // namespace w8y::source
