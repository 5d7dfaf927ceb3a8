// Source of jobs of a schedule.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "source/claiming_source.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::source {

class ScheduleSource final : public ClaimingSource, private store::ScheduleQueueHandler {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::ScheduleQueue>(store::ScheduleQueueHandler&)>;
  ScheduleSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                 const MakeQueue& make);
  ~ScheduleSource() override;

  void use(ListConfigPtr rule) override;
  void settle(EndedRun&& run) override;

 private:
  // store::ScheduleQueueHandler
  void on_news(store::ScheduleNews news) override;
  void on_dispatched(store::DispatchAnswer&&) override {}  // the Dispatcher has a queue of its own
  void on_recovered(std::size_t, std::optional<Duration>) override {}
  // ClaimingSource
  [[nodiscard]] store::WorkQueue& queue() const override { return *queue_; }
  void prepare(ClaimReply& reply) override;
  void send_claim(std::size_t wanted) override { queue_->claim(wanted); }
  bool on_idle(bool found) override {
    return last_end() == ClaimEnd::empty && pay_for_peek(queue_->track(), found);
  }

  std::unique_ptr<store::ScheduleQueue> queue_;
  std::string key_prefix_;
};

}  // namespace w8y::source
