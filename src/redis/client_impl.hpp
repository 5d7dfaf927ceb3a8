// Interface of the implementations of Client: one server, or a cluster.
#pragma once

#include "redis/client.hpp"
#include "redis/listener_list.hpp"

namespace w8y::redis {

class Client::Impl {
 public:
  virtual ~Impl() = default;
  virtual void call(const Command& command, Callback callback) = 0;
  virtual void run(const Script& script, const Command& keys, const Command& args,
                   Callback callback) = 0;
  [[nodiscard]] virtual bool connected() const = 0;
  [[nodiscard]] virtual const std::string& error() const = 0;
  [[nodiscard]] virtual std::uint64_t commands_sent() const = 0;
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  virtual void reconnect_now() = 0;

  ListenerList<Listener>& listeners() { return listeners_; }

 protected:
  // Only Client may call the functions of a Listener.
  static void notify_up(Listener& listener) { listener.on_up(); }
  static void notify_down(Listener& listener, const std::string& why) { listener.on_down(why); }
  static void notify_refusing(Listener& listener, const std::string& why) {
    listener.on_refusing(why);
  }
  static void notify_accepting(Listener& listener) { listener.on_accepting(); }

  ListenerList<Listener> listeners_;
};

}  // namespace w8y::redis
