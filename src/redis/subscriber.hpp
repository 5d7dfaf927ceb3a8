// Channels of Redis: messages as they are published, over a connection of its own.
#pragma once

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

/// Who hears of channels.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  /// Both views are valid only during the call.
  virtual void on_message(std::string_view channel, std::string_view payload) = 0;
  /// See Subscriber::Ready.
  virtual void on_confirmed(std::string_view channel) = 0;
};

/// One wish to hear of a channel; destroying it ends it, also in its own callback,
/// also when the subscriber is already gone.
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
/// subscriptions of one channel cost the server one; all of a turn's changes leave in one write,
/// as one command of each kind. A PING now and then notices a server that is gone without a word.
/// Must not be destroyed in one of its own callbacks.
class Subscriber {
 public:
  /// Both views are valid only during the call.
  using Callback = std::function<void(std::string_view channel, std::string_view payload)>;
  /// The server has confirmed the channel, for the first time or after a new connection: what was
  /// published before that may have been missed, what comes from now on is told. So this is when
  /// to look at what the messages are about.
  using Ready = std::function<void()>;

  /// command_timeout is how long a PING may take, and the time between two.
  Subscriber(loop::Loop& loop, ClientOptions options);
  /// At the servers that `discovery` finds.
  Subscriber(loop::Loop& loop, ClientOptions options, std::unique_ptr<Discovery> discovery);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  [[nodiscard]] Subscription subscribe(std::string_view channel, Callback callback,
                                       Ready ready = {});
  /// The same for a hearer that lives at least as long as the subscription: ten thousand lists have
  /// no functions for what is one object each.
  [[nodiscard]] Subscription subscribe(std::string_view channel, MessageHandler& hearer);

  /// All channels are subscribed.
  [[nodiscard]] bool connected() const;
  [[nodiscard]] const std::string& error() const;

  class Listener {
   public:
    explicit Listener(Subscriber& subscriber);
    virtual ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   protected:
    /// All channels are subscribed on a new connection; messages may have been missed before.
    virtual void on_up() = 0;
    virtual void on_down(const std::string& why) = 0;
    /// The server doesn't let us have a channel (ACL). It is asked again only on the
    /// next connection.
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
