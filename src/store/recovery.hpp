// Work whose holder is gone goes back to its queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "redis/script.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

/// A script that looks through what is noted as taken. Its arguments are these, a cursor, how many
/// it looks at, and the runs of lost takes. It answers with the next cursor, when another lease may
/// be over (ms, or -1), how much was put back, and the runs that it has found.
struct RecoverCall {
  const redis::Script& script;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
};

/// Looks through what is noted as taken, some of it in each call. Takes whose answer was lost are
/// undone on the way, without waiting for their leases to end.
class Recovery {
 public:
  using Answer = std::function<void(std::size_t put_back, std::optional<Duration> next)>;

  explicit Recovery(RedisSession& session);
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// One at a time.
  void look(RecoverCall call, Answer answer);
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
  std::optional<RecoverCall> call_;
  Answer answer_;
  std::map<std::string, Instant> lost_;
  std::vector<std::string> searched_;  ///< those of lost_ that this look asks for
  bool looking_ = false;
  std::size_t put_back_ = 0;
  std::optional<Duration> next_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
