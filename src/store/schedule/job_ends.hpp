// How runs of jobs end in Redis: decided by the schedule as it stands then, and kept until Redis
// has confirmed it.
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

/// The decision is made here and carried out there, if the schedule and the time that it was made
/// by still hold; else it is made again by what Redis has told instead.
class JobEnds {
 public:
  struct Handler {
    /// Redis has confirmed the last one. From the loop.
    std::function<void()> none_left;
    /// Why something of a run's end will never be written. From the loop.
    std::function<void(const RunId& run, const std::string& why)> given_up;
    /// What Redis refuses beside the key, at each end that it refuses in part; empty: nothing any
    /// more. From the loop.
    std::function<void(const std::string& refused)> unwritten;
    /// The schedule of a job is none: why. From the loop.
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
    std::optional<std::string> schedule;  ///< as it was last known
    std::optional<std::chrono::seconds> backoff;
    Instant forget_at{};  ///< given up then, on a connection that was replaced
    Instant since{};
    std::string why_bad;
  };
  /// `now`: Redis's, and never later than that.
  void add(End&& end, UnixSeconds now);
  /// The connection is back.
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
