// Events of Redis's channels as they happen, through outages, up to a number of them.
#pragma once

#include <cstddef>
#include <string>

#include "loop/loop.hpp"
#include "redis/subscriber.hpp"

namespace w8y::ctl {

class Watching final : private redis::Subscriber::Listener {
 public:
  /// `limit`: of events; 0: none.
  Watching(loop::Loop& loop, redis::Subscriber& subscriber, std::size_t limit)
      : redis::Subscriber::Listener(subscriber), loop_(loop), limit_(limit) {}

  /// Whether one more is wanted.
  [[nodiscard]] bool wanted() const { return seen_ == 0 || seen_ != limit_; }
  /// One was printed.
  void seen();
  /// Runs the loop to the end. Throws Failure where Redis can't be reached at first.
  void run();

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refused(const std::string& channel, const std::string& why) override;

  loop::Loop& loop_;
  std::size_t limit_;
  std::size_t seen_ = 0;
  bool reached_ = false;
  bool in_trouble_ = false;
  std::string failure_;
};

}  // namespace w8y::ctl
