// Source of jobs of a feed.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "source/claim_relay.hpp"
#include "source/queue_source.hpp"
#include "store/thoonk/job_queue.hpp"

namespace w8y::source {

class JobSource final : public QueueSource, private ClaimRelay<store::thoonk::JobQueueHandler> {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::thoonk::JobQueue>(store::thoonk::JobQueueHandler&)>;
  JobSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler, const MakeQueue& make);
  ~JobSource() override;

  void use(ListConfigPtr rule) override;
  void retire() override;
  void settle(EndedRun&& run) override;

 private:
  // store::thoonk::JobQueueHandler
  void on_taken(store::TakeReply&& reply) override { taken(std::move(reply)); }
  void on_news() override { news(); }
  void on_back() override { back(); }
  // QueueSource
  [[nodiscard]] store::WorkQueue& queue() const override { return *queue_; }

  std::unique_ptr<store::thoonk::JobQueue> queue_;
};

}  // namespace w8y::source
