// Takes that Redis may have carried out though their answer never came: they are undone.
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

/// They are looked for at once, and again until they are found or their leases are over: where they
/// were made, also when their list has other keys by now.
class LostTakes {
 public:
  /// `looked`: after each look; all of them may be settled.
  LostTakes(RedisSession& session, std::function<void()> looked);

  /// `prefix`: of the list when the take was made; `call`: looks there. `runs`, `until`: as of
  /// Recovery::lost().
  void add(const std::string& prefix, RecoverCall call, const std::vector<std::string>& runs,
           Instant until);
  /// Redis is back.
  void look();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Place {
    Place(RedisSession& session, RecoverCall what) : call(std::move(what)), recovery(session) {}
    RecoverCall call;
    Recovery recovery;
  };
  /// After a look that Redis has refused.
  static constexpr Duration pause = std::chrono::seconds(1);

  RedisSession& session_;
  std::function<void()> looked_;
  std::map<std::string, Place> places_;
  Timer again_;
};

}  // namespace w8y::store
