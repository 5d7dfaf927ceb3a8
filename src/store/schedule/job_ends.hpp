// Settlements of scheduled jobs: decided by the current schedule, and kept until Redis has
// confirmed them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/end_call.hpp"
#include "store/schedule/lease_store.hpp"

namespace w8y::store {

/// Settlements of one schedule. The decision is made here and executed by Redis, if the schedule
/// and the time that it is based on still hold. Otherwise it is made again with the values in the
/// reply.
class JobEnds {
 public:
  struct Handler {
    /// Called from the loop when Redis has confirmed the last settlement.
    std::function<void()> none_left;
    /// Called from the loop when a settlement, or a part of it, will never be written. `why`: the
    /// reason.
    std::function<void(const RunId& run, const std::string& why)> given_up;
    /// Called from the loop when Redis refuses a part of a settlement other than the key, each
    /// time. `refused`: the write error; empty = writes succeed again.
    std::function<void(const std::string& refused)> unwritten;
    /// Called from the loop when a job has an invalid schedule. `why`: the error.
    std::function<void(const DisplayItem& job, const std::string& why)> bad;
  };
  JobEnds(RedisSession& session, DecideNextStep decide, Handler handler);
  ~JobEnds();
  JobEnds(const JobEnds&) = delete;
  JobEnds& operator=(const JobEnds&) = delete;

  struct End {
    std::shared_ptr<ScheduleLeaseStore> store;
    EndCall call;
    bool by_schedule = false;
    std::optional<std::string> schedule;  ///< as last read
    std::optional<std::chrono::seconds> backoff;
    Instant forget_at{};  ///< time at which it is abandoned if a reload has replaced the session
    Instant since{};
    std::string why_bad;
  };
  /// Adds a settlement. `now`: time of the Redis clock, or earlier.
  void add(End&& end, UnixSeconds now);
  /// Retries refused settlements. Called when the connection is up again, and by a timer.
  void retry();
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  void fit(EndCall& call);
  void send(const RunId& run);
  void answered(const RunId& run, const redis::Answer& answer);
  void failed(const RunId& run, End& end, const StoreError& trouble);
  void confirmed(const RunId& run, const End& end, const EndResult& result);
  void give_up_overdue();

  RedisSession& session_;
  const DecideNextStep decide_;
  const Handler handler_;
  std::map<RunId, End> ends_;
  std::vector<RunId> refused_;
  std::vector<std::function<void()>> news_;
  std::string unwritten_;
  Timer retry_;
  Timer tell_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
