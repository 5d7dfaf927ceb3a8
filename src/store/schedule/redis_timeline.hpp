#pragma once

#include <functional>
#include <memory>
#include <string>

#include <w8y/timers.hpp>

#include "redis/client.hpp"
#include "redis/subscriber.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/timeline.hpp"

namespace w8y::store {

namespace detail {
/// A base class, so that the connection outlives the listener on it.
struct TimelineSession {
  std::shared_ptr<RedisSession> session_;
};
}  // namespace detail

class RedisTimeline final : public Timeline,
                            private detail::TimelineSession,
                            private redis::Client::Listener {
 public:
  RedisTimeline(std::shared_ptr<RedisSession> session, const Rule& rule, TimelineHandler& handler);
  ~RedisTimeline() override;

  void dispatch() override;
  void recover() override;
  [[nodiscard]] bool hears() const override { return hears_ && session_->subscriber.connected(); }

 private:
  /// Entries of `taken` that one call looks at, roughly, so that Redis is never held for long.
  static constexpr const char* looked_at_once = "100";

  void on_up() override { handler_.on_back(); }
  void on_down(const std::string&) override {}
  void heard(std::string_view message);
  void hear_of_timeline();
  using Good = std::function<void(const redis::Reply& reply)>;
  void run(const redis::Script& script, const redis::Command& keys, const redis::Command& arguments,
           Good good);

  const ScheduleKeys keys_;
  const std::string key_prefix_;
  TimelineHandler& handler_;
  std::string cursor_ = "0";
  redis::Subscription wake_;
  redis::Subscription changes_;
  bool hears_ = false;  ///< changes_ is confirmed
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
