// Source of jobs of a feed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "source/claiming_source.hpp"
#include "source/prefetch.hpp"
#include "store/thoonk/job_queue.hpp"

namespace w8y::source {

class JobSource final : public ClaimingSource, private store::thoonk::JobQueueHandler {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::thoonk::JobQueue>(store::thoonk::JobQueueHandler&)>;
  JobSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler, const MakeQueue& make);
  ~JobSource() override;

  void retire() override;
  void settle(EndedRun&& run) override;
  /// With few slots, the other jobs stay available to all hosts. While two runs in a row take less
  /// time than a claim, some runs end before the reply. The expected number is the number of runs
  /// that the last reply started without a slot that is free now.
  [[nodiscard]] PrefetchCount prefetch_count(const RunRate& rate) const override {
    const std::size_t most = std::min(rate.places, prefetch(rate));
    if (rate.places >= many_places) return {most, most};
    if (most == 0) return {};
    const bool ends_first = rate.mean_run * 2 < rate.claim_took;
    const std::size_t placed = rate.placed - std::min(rate.placed, rate.free);
    const std::size_t ending = ends_first ? std::min(rate.places - rate.free, placed) : 0;
    return {1 + ending, 1};
  }

 private:
  static constexpr std::size_t many_places = 16;

  // store::thoonk::JobQueueHandler
  void on_news() override;
  void on_added() override { woken(); }
  // ClaimingSource
  [[nodiscard]] store::WorkQueue& queue() const override { return *queue_; }
  void send_claim(std::size_t wanted) override { queue_->claim(wanted); }
  bool on_idle(bool found) override {
    peeks_at_news_ = found;
    return last_end() == ClaimEnd::empty && pay_for_peek(queue_->track(), found);
  }

  std::unique_ptr<store::thoonk::JobQueue> queue_;
  /// Whether the next notification is probably of a job that was claimed before.
  bool peeks_at_news_ = false;
};

}  // namespace w8y::source
