// Waits for the result of a job.
#pragma once

#include <optional>
#include <string>

#include "operator/channel_watch.hpp"
#include "operator/job_feeds.hpp"

namespace w8y::verbs {

/// Waiter for one job. A result that is not kept is only published, so subscribe before the job is
/// put. If the job was put again during its run, the waiter waits for the end of its next run. Each
/// second, it reads the state of the job, to report failed runs and to detect a job that
/// was finished without a message, retracted or stalled. Then the result is the kept one or that in
/// the history, which also has the cause of a stall.
class JobWait final : private detail::SubscriberOwner, private redis::Subscriber::Listener {
 public:
  JobWait(const Connection& at, JobFeed& feed, std::string id, Complain complain);

  /// Returns when Redis has confirmed the subscription. Throws QueryError.
  void subscribe();
  /// Returns the result of a job that was put after subscribe(). Throws QueryError if there will be
  /// no result, or none within `timeout`.
  std::string result(std::optional<Duration> timeout);
  /// The same for a job that was put before. If it does not exist, returns the result of its last
  /// run.
  std::string result_of_known(std::optional<Duration> timeout);

 private:
  void accept_message();
  void check();
  void report_failure(const view::ItemView& job);
  [[nodiscard]] std::optional<view::RunRecord> last_run();
  [[noreturn]] void refuse_stalled();
  std::string past_result();
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
  bool was_gone_ = false;   ///< at the last check
  std::string failure_;     ///< why there is no subscription
  WallTime since_{0};       ///< time of Redis; earlier runs are of another job with this ID
  std::string reported_;    ///< last failed run that was reported
  std::string last_state_;  ///< state and failures of the job at the last check
  std::optional<std::string> message_;  ///< result of the last run that has finished the job
  std::optional<std::string> result_;
};

}  // namespace w8y::verbs
