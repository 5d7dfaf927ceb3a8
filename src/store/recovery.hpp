// Recovers work of holders that no longer exist.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "store/redis_session.hpp"
#include "store/script_call.hpp"

namespace w8y::store {

/// Examines recorded claims, a part of them in each call.
class Recovery {
 public:
  using Answer = std::function<void(std::size_t put_back, std::optional<Duration> next)>;

  explicit Recovery(RedisSession& session);
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// Starts a search. The previous one must have ended. `call`: its arguments are these, a cursor
  /// and the number of claims to examine. Its reply has the next cursor, the time until another
  /// lease may end (ms; -1 = none), and the number of recovered items.
  void look(ScriptCall call, Answer answer);

 private:
  void step(const std::string& cursor);
  void stepped(const redis::Answer& answer);
  void finish();

  RedisSession& session_;
  ScriptCall call_;
  Answer answer_;
  std::size_t put_back_ = 0;
  std::optional<Duration> next_;
  std::shared_ptr<bool> alive_;
};

/// Returns the call that undoes in-doubt claims. `recover`: as for Recovery::look().
ScriptCall undo_recorded(const ScriptCall& recover, const RedisSession& session,
                         const std::vector<RunId>& runs);

}  // namespace w8y::store
