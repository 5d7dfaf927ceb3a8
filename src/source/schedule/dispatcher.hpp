// When the timeline of a schedule is looked at: at the moment at which its next job is due, when
// something earlier is heard of, and now and then for what nobody told us of.
//
// Any number of hosts look, since one look is one step in Redis. So does a host that refuses the
// list, or has no place for its jobs.
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
  /// Told of each second, at most once, up to which all that was due is in its queue.
  using Note = std::function<void(const std::string& timefile, store::UnixSeconds time)>;

  Dispatcher(const Clock& clock, TimerQueue& timers, IdlePolls& idle,
             ListMaintenanceHandler& handler, const MakeQueue& make, Note note, ListConfigPtr rule);
  ~Dispatcher() override;

  void use(ListConfigPtr rule) override;

 private:
  enum class State {
    entering,  ///< waits until few enough lists are at their first look
    asking,    ///< a call is out
    waiting,   ///< for a time, for news, or for its turn
  };
  /// How often it is looked for jobs whose holder is gone, if none is known to be over sooner: they
  /// cost a command, and each host looks.
  static constexpr Duration recover_pause = std::chrono::seconds(5);
  static constexpr Duration least_recover_pause = std::chrono::milliseconds(250);
  /// A look that is refused is repeated after that, however many wakes there are.
  static constexpr Duration after_trouble = std::chrono::seconds(1);
  /// Each end of a run puts its job on the timeline, which is heard of as what others put there is.
  /// For each look in vain, the next one for a change waits twice as long.
  static constexpr Duration first_change_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;

  // store::ScheduleQueueHandler; the rest is the Source's
  void on_dispatched(store::DispatchAnswer&& answer) override;
  void on_recovered(std::size_t put_back, std::optional<Duration> next) override;
  void on_news(store::ScheduleNews news) override;
  void on_back() override;
  void on_taken(store::TakeReply&&) override {}
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
  bool again_ = false;       ///< something was heard while a call was out
  bool looked_ = false;      ///< what was heard has been looked for since
  bool changed_ = false;     ///< somebody changed the timeline since the last look
  bool for_change_ = false;  ///< the look that is out is for that
  unsigned fruitless_ = 0;   ///< looks for changes, in a row, that found nothing
  Instant change_look_{};    ///< the last one
  std::optional<Instant> due_at_;
  Instant recover_at_{};
  Instant not_before_{};  ///< after trouble
  store::UnixSeconds noted_ = 0;
  std::string trouble_;
  Timer timer_;
  std::unique_ptr<store::ScheduleQueue> queue_;
};

}  // namespace w8y::source
