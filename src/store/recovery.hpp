// Recovers work of holders that no longer exist.
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

/// Call of a script that examines recorded claims. Its arguments are these, a cursor, the number of
/// claims to examine, and the runs of in-doubt claims. The reply has the next cursor, the time
/// until another lease may end (ms; -1 = none), the number of recovered items, and the runs that
/// were found.
struct RecoverCall {
  const redis::Script& script;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
};

/// Examines recorded claims, a part of them in each call. In-doubt claims that it finds are undone
/// at once, before their leases end.
class Recovery {
 public:
  using Answer = std::function<void(std::size_t put_back, std::optional<Duration> next)>;

  explicit Recovery(RedisSession& session);
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// Starts a search. The previous one must have ended.
  void look(RecoverCall call, Answer answer);
  [[nodiscard]] bool looking() const { return looking_; }
  /// Adds in-doubt claims. `runs`: "run:<host>:<pid>:<run id>" of each; `until`: the time at which
  /// their leases have ended, so that any host recovers them.
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
  std::vector<std::string> searched_;  ///< the entries of `lost_` that this search covers
  bool looking_ = false;
  std::size_t put_back_ = 0;
  std::optional<Duration> next_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
