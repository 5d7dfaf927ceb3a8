// Waiting for the result of a job.
#pragma once

#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"
#include "store/thoonk/job_feed.hpp"

namespace w8y::ctl {

/// A result is only published: so one listens first, and puts the job then. What is finished
/// without a result, retracted or stalled is noticed by looking for it now and then.
class JobWait final : private redis::Subscriber::Listener {
 public:
  JobWait(redis::Subscriber& subscriber, loop::Loop& loop, store::JobFeed& feed, std::string id);

  /// Returns when Redis has confirmed it. Throws Failure.
  void listen();
  /// Throws Failure when there won't be one, or it takes longer.
  std::string result(std::optional<Duration> timeout);

 private:
  void look();
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refused(const std::string& channel, const std::string& why) override;

  redis::Subscriber& subscriber_;
  loop::Loop& loop_;
  store::JobFeed& feed_;
  std::string id_;
  redis::Subscription subscription_;
  bool listening_ = false;
  bool in_trouble_ = false;
  bool was_gone_ = false;  ///< at the last look
  std::string trouble_;    ///< why nothing can be heard from the start
  std::optional<std::string> result_;
};

}  // namespace w8y::ctl
