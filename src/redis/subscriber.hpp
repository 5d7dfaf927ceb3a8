// Channels of Redis: receives messages over a separate connection.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "redis/options.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

class Discovery;

/// Receiver of the messages of channels.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  /// Called for each message, or for each element if it is an array, or with an empty payload if it
  /// is null. Both views are valid only during the call.
  virtual void on_message(std::string_view channel, std::string_view payload) = 0;
  /// Called like Subscriber::Ready.
  virtual void on_confirmed(std::string_view channel) = 0;
};

/// Subscription to one channel. Its destructor ends it, also in its own callback, and also if the
/// subscriber no longer exists.
class Subscription {
 public:
  Subscription() = default;
  ~Subscription() { reset(); }
  Subscription(Subscription&& other) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept;

  void reset();
  [[nodiscard]] explicit operator bool() const { return entry_ != nullptr; }

 private:
  friend class Subscriber;
  struct Entry;
  explicit Subscription(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}

  std::shared_ptr<Entry> entry_;
};

/// Connects with the first subscription, and again whenever the connection breaks. Several
/// subscriptions to one channel are one for the server. All changes of one loop iteration leave in
/// one write, as one command of each kind. A PING in each interval of command_timeout detects a
/// server that disappears without closing the connection. A subscriber must not be destroyed in one
/// of its own callbacks.
class Subscriber {
 public:
  /// Called for each message. Both views are valid only during the call.
  using Callback = std::function<void(std::string_view channel, std::string_view payload)>;
  /// Called when the server has confirmed the channel, for the first time or on a new connection.
  /// Messages before that may have been missed, later ones are received. So this is the time to
  /// read the state that the messages report.
  using Ready = std::function<void()>;

  /// command_timeout is the time limit of a PING, and the time between two.
  Subscriber(loop::Loop& loop, ClientOptions options);
  /// Connects to the servers that `discovery` finds.
  Subscriber(loop::Loop& loop, ClientOptions options, std::unique_ptr<Discovery> discovery);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  [[nodiscard]] Subscription subscribe(std::string_view channel, Callback callback,
                                       Ready ready = {});
  /// Subscribes a handler that outlives the subscription. This overload needs no function
  /// object, which saves memory with ten thousand lists.
  [[nodiscard]] Subscription subscribe(std::string_view channel, MessageHandler& hearer);

  /// Whether all channels are subscribed.
  [[nodiscard]] bool connected() const;
  [[nodiscard]] const std::string& error() const;
  /// Requests the ID of each connection from its server. Must be called before the first
  /// subscription.
  void request_id();
  /// Returns the ID of the connection; 0 if it is unknown. If it was requested, it is known before
  /// any channel of the connection is confirmed.
  [[nodiscard]] std::int64_t client_id() const;

  class Listener {
   public:
    explicit Listener(Subscriber& subscriber);
    virtual ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   protected:
    /// Called when all channels are subscribed on a new connection. Earlier messages may have been
    /// missed.
    virtual void on_up() = 0;
    virtual void on_down(const std::string& why) = 0;
    /// Called when the server refuses a channel (ACL). One refused channel is requested again every
    /// 5 s.
    virtual void on_refused(const std::string& /*channel*/, const std::string& /*why*/) {}

   private:
    friend class Subscriber;
    Subscriber& subscriber_;
    std::list<Listener*>::iterator place_;
  };

 private:
  friend class Subscription;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::redis
