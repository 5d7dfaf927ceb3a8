// Messages of channels of Redis as they are published, through outages, up to a number of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/connection.hpp"
#include "redis/subscriber.hpp"

namespace w8y::verbs {

/// Prints one line about an outage.
using Complain = std::function<void(const std::string& line)>;

namespace detail {
/// A base class: the subscriber exists before its listener.
struct SubscriberOwner {
  redis::Subscriber subscriber;
};
}  // namespace detail

class ChannelWatch final : private detail::SubscriberOwner, private redis::Subscriber::Listener {
 public:
  using Message = std::function<void(std::string_view payload)>;

  /// `limit`: of counted messages; 0: none.
  ChannelWatch(const Connection& at, std::size_t limit, Complain complain);

  /// `then` is called for each message of the channel, until count() reaches the limit.
  void add(const std::string& channel, Message then);
  [[nodiscard]] bool empty() const { return subscriptions_.empty(); }
  /// One message was printed. `last`: no more are wanted.
  void count(bool last);
  /// Runs the loop until the last message. Throws Refusal, 503, if Redis is not reachable at first.
  void run();

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refused(const std::string& channel, const std::string& why) override;

  loop::Loop& loop_;
  const std::size_t limit_;
  const Complain complain_;
  std::size_t counted_ = 0;
  bool reached_ = false;
  bool in_outage_ = false;
  std::string failure_;
  std::vector<redis::Subscription> subscriptions_;
};

}  // namespace w8y::verbs
