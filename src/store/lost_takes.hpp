// Undoes in-doubt claims of jobs: Redis may have executed them, but the reply was lost.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "store/recovery.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

/// Searches for in-doubt claims at once, and again until they are found or their leases have ended.
/// The search uses the keys at the time of the claim, even if the list has other keys now.
class LostTakes {
 public:
  /// `looked`: called after each search, when all claims may be resolved.
  LostTakes(RedisSession& session, std::function<void()> looked);

  /// Adds an in-doubt claim. `prefix`: of the list when the claim was made; `call`: searches its
  /// keys; `runs` and `until`: as in Recovery::lost().
  void add(const std::string& prefix, RecoverCall call, const std::vector<std::string>& runs,
           Instant until);
  /// Searches now. Called when Redis is available again.
  void look();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Place {
    Place(RedisSession& session, RecoverCall what) : call(std::move(what)), recovery(session) {}
    RecoverCall call;
    Recovery recovery;
  };
  /// Delay after Redis has refused a search.
  static constexpr Duration pause = std::chrono::seconds(1);

  RedisSession& session_;
  std::function<void()> looked_;
  std::map<std::string, Place> places_;
  Timer again_;
};

}  // namespace w8y::store
