// Receives messages of Redis channels, through outages, until a number of them is reached.
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
/// Base class, so that the subscriber is constructed before its listener.
struct SubscriberOwner {
  redis::Subscriber subscriber;
};
}  // namespace detail

class ChannelWatch final : private detail::SubscriberOwner, private redis::Subscriber::Listener {
 public:
  using Message = std::function<void(std::string_view payload)>;

  /// `limit`: number of messages to count; 0: no limit.
  ChannelWatch(const Connection& at, std::size_t limit, Complain complain);

  /// Adds a channel. `then` is called for each of its messages, until count() reaches the limit.
  void add(const std::string& channel, Message then);
  [[nodiscard]] bool empty() const { return subscriptions_.empty(); }
  /// Counts a message that was printed. `last`: ends run() regardless of the limit.
  void count(bool last);
  /// Runs the loop until the last message. Throws QueryError, 503, if Redis is not reachable at
  /// first.
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
