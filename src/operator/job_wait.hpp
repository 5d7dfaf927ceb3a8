// Waits for the result of a job.
#pragma once

#include <optional>
#include <string>

#include "operator/channel_watch.hpp"
#include "operator/job_feeds.hpp"

namespace w8y::verbs {

/// Waiter for one job. A result is only published, so subscribe before the job is put. Each second,
/// it reads the state of the job, to detect a job that was finished without a result, retracted or
/// stalled.
class JobWait final : private detail::SubscriberOwner, private redis::Subscriber::Listener {
 public:
  JobWait(const Connection& at, JobFeed& feed, std::string id, Complain complain);

  /// Returns when Redis has confirmed the subscription. Throws QueryError.
  void subscribe();
  /// Returns the result. Throws QueryError if there will be no result, or none within `timeout`.
  std::string result(std::optional<Duration> timeout);

 private:
  void check();
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refused(const std::string& channel, const std::string& why) override;

  loop::Loop& loop_;
  JobFeed& feed_;
  const std::string id_;
  const Complain complain_;
  redis::Subscription subscription_;
  bool subscribed_ = false;
  bool in_outage_ = false;
  bool was_gone_ = false;  ///< at the last check
  std::string failure_;    ///< why there is no subscription
  std::optional<std::string> result_;
};

}  // namespace w8y::verbs
