// Source of jobs of a schedule.
#pragma once

#include <functional>
#include <memory>

#include "source/claim_relay.hpp"
#include "source/queue_source.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::source {

class ScheduleSource final : public QueueSource, private ClaimRelay<store::ScheduleQueueHandler> {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::ScheduleQueue>(store::ScheduleQueueHandler&)>;
  ScheduleSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                 const MakeQueue& make);
  ~ScheduleSource() override;

  void use(ListConfigPtr rule) override;
  void retire() override;
  void settle(EndedRun&& run) override;

 private:
  // store::ScheduleQueueHandler
  void on_taken(store::TakeReply&& reply) override;
  void on_news(store::ScheduleNews news) override;
  void on_dispatched(store::DispatchAnswer&&) override {}  // the Dispatcher has a queue of its own
  void on_recovered(std::size_t, std::optional<Duration>) override {}
  void on_back() override { back(); }
  // QueueSource
  [[nodiscard]] store::WorkQueue& queue() const override { return *queue_; }

  std::unique_ptr<store::ScheduleQueue> queue_;
};

}  // namespace w8y::source
