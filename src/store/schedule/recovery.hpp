// Jobs whose holder is gone: they go back to the taking ends of their queues.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <w8y/clock.hpp>

#include "store/redis_session.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

/// Looks through what is noted as taken, some jobs in each call. Takes whose answer was lost are
/// undone on the way, without waiting for their leases to end.
class Recovery {
 public:
  using Answer = std::function<void(std::size_t put_back, std::optional<Duration> next)>;

  explicit Recovery(RedisSession& session);
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// One at a time.
  void look(std::shared_ptr<const ScheduleKeys> keys, Answer answer);
  [[nodiscard]] bool looking() const { return looking_; }
  /// `runs`: "run:<host>:<pid>:<run id>" of a take that was not answered; `until`: their leases are
  /// over by then, and others find them.
  void lost(const std::vector<std::string>& runs, Instant until);
  [[nodiscard]] std::size_t lost_takes() const { return lost_.size(); }

 private:
  void step(const std::string& cursor);
  void stepped(const std::vector<std::string>& asked, const redis::Answer& answer);
  void finish();

  RedisSession& session_;
  std::shared_ptr<const ScheduleKeys> keys_;
  Answer answer_;
  std::map<std::string, Instant> lost_;
  std::vector<std::string> searched_;  ///< those of lost_ that this look asks for
  bool looking_ = false;
  std::size_t put_back_ = 0;
  std::optional<Duration> next_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
