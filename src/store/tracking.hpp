// Client-side caching of Redis (CLIENT TRACKING): Redis sends one message when a key changes that
// this host has read. So an item that any client adds to an idle list is noticed at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "redis/client.hpp"
#include "redis/subscriber.hpp"

namespace w8y::store {

/// Tracks keys of one server for the connection of its client. Messages arrive over the subscriber.
///
/// A tracked peek is a single command that reads keys, sent directly after CLIENT CACHING YES.
/// Redis then tracks the keys: at the first change of a key, it sends one message and stops
/// tracking the key. A write by the same connection ends tracking without a message, so a peek must
/// follow the write. If a key changes before the reply to the peek arrives, the key is not tracked.
///
/// Tracking does not cover time: Redis reports an expired key when it deletes it, which can be
/// minutes later.
class ServerTracking final : private redis::Client::Listener, private redis::MessageHandler {
 public:
  /// `client`: its connection is tracked. `caller` sends the peeks over this connection.
  /// `alone`: nothing else uses the subscriber. Otherwise its users notice a new connection.
  ServerTracking(redis::Client& client, redis::Client& caller, redis::Subscriber& subscriber,
                 TimerQueue& timers, const Clock& clock, bool alone);
  ~ServerTracking() override;
  ServerTracking(const ServerTracking&) = delete;
  ServerTracking& operator=(const ServerTracking&) = delete;

  /// Key of a tracked peek.
  class Key {
   public:
    Key() = default;
    virtual ~Key() { untrack(); }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    /// Returns whether the next change of the key is reported.
    [[nodiscard]] bool is_tracked() const { return state_ == State::tracked; }

   protected:
    /// Called when another client has changed the key, or may have. Any client can cause this at
    /// any rate.
    virtual void on_key_changed() = 0;
    /// Called when a client has flushed a database. All keys may have changed.
    virtual void on_keys_flushed() { on_key_changed(); }
    /// Forgets the key, so that no call follows. Must be called when this client may have changed
    /// it.
    void untrack();

   private:
    friend class ServerTracking;
    enum class State : std::uint8_t { untracked, peeked, tracked };
    ServerTracking* tracking_ = nullptr;  ///< nullptr = untracked
    std::uint32_t hash_ = 0;
    State state_ = State::untracked;
  };

  /// Returns whether peeks can be tracked. Follows a new connection of a shared subscriber, whose
  /// ID is known before any of its channels is confirmed, so a peek after that is tracked.
  [[nodiscard]] bool on() {
    if (!invalidations_) invalidations_ = subscriber_.subscribe("__redis__:invalidate", *this);
    if (!alone_) follow_subscriber();
    return on_ && (!alone_ || subscriber_.client_id() == target_);
  }

  /// Forgets all keys of a name, so that no call follows. Must be called when this client may have
  /// changed it, if the owner of a key does not untrack it.
  void untrack(std::string_view name);
  /// Keys of a tracked peek, as hashes of their names.
  using Peek = std::vector<std::uint32_t>;
  /// Adds a key to a tracked peek.
  void add(Peek& peek, Key& key, std::string_view name);
  /// Sends a tracked peek: a single command that reads its keys. They are tracked when its reply is
  /// no error and none of them has changed meanwhile.
  void call(Peek peek, const redis::Command& command, redis::Client::Callback callback);
  /// Forgets all keys. Their owners peek again, as after a flush.
  void lose_all() { on_message({}, {}); }

 private:
  /// Interval at which a refused CLIENT TRACKING is sent again.
  static constexpr Duration refused_pause = std::chrono::seconds(10);

  using Keys = std::unordered_multimap<std::uint32_t, Key*>;

  // redis::Client::Listener
  void on_up() override;
  void on_down(const std::string& why) override;
  // redis::MessageHandler
  void on_message(std::string_view channel, std::string_view key) override;
  void on_confirmed(std::string_view) override {
    confirmed_ = subscriber_.client_id();
    follow_subscriber();
  }

  void follow_subscriber();
  void switch_on();
  void switch_off();
  [[nodiscard]] redis::Client::Callback recorder();
  void record(const redis::Answer& answer);
  void untrack_peeked();
  void untrack_all();
  [[nodiscard]] bool contains(std::uint32_t hash, const Key* key) const;
  void confirm(const Peek& peek);

  redis::Client& client_;
  redis::Client& caller_;
  redis::Subscriber& subscriber_;
  const Clock& clock_;
  const bool alone_;
  bool on_ = false;
  unsigned times_on_ = 0;       ///< so that a late reply does not end newer tracking
  std::int64_t target_ = 0;     ///< ID of the connection of the subscriber; 0 = unknown
  std::int64_t confirmed_ = 0;  ///< the same when the channel was confirmed last
  /// By the hash of their names: two names with one hash cost a peek.
  Keys keys_;
  Timer again_;
  std::shared_ptr<bool> alive_;
  redis::Subscription invalidations_;
};

/// Tracks keys of one server or of a cluster. Each server of a cluster has a subscriber of its own,
/// because Redis reports a change only to connections to the server of the key. When a hash slot
/// moves, all keys are peeked at again: an empty list leaves nothing behind that could be reported.
class Tracking final : private redis::Client::NodeListener {
 public:
  using Key = ServerTracking::Key;

  /// `subscriber`: of the session.
  Tracking(loop::Loop& loop, redis::Client& client, redis::Subscriber& subscriber, bool cluster);
  ~Tracking() override;
  Tracking(const Tracking&) = delete;
  Tracking& operator=(const Tracking&) = delete;

  /// Returns whether a peek at this key can be tracked.
  [[nodiscard]] bool on(std::string_view key);
  /// As in ServerTracking.
  void untrack(std::string_view name);
  /// Keys of a tracked peek; all of them are in one hash slot.
  struct Peek {
    ServerTracking* server = nullptr;
    ServerTracking::Peek keys;
    [[nodiscard]] bool empty() const { return keys.empty(); }
    /// Adds the keys of another peek in the same hash slot.
    void add(const Peek& other);
  };
  /// As in ServerTracking. The key is not added if its server is not known.
  void add(Peek& peek, Key& key, std::string_view name);
  /// Sends a tracked peek, whose first argument is a key.
  void call(Peek peek, const redis::Command& command, redis::Client::Callback callback);

 private:
  struct Server {
    Server(loop::Loop& loop, redis::Client& node, redis::Client& caller,
           const redis::ClientOptions& options);
    redis::Subscriber subscriber;
    ServerTracking tracking;
  };
  // redis::Client::NodeListener
  void on_node(redis::Client& node, const redis::ClientOptions& options) override;
  void on_node_removed(redis::Client& node) override { servers_.erase(&node); }
  void on_slots_moved() override;

  [[nodiscard]] ServerTracking* server_of(std::string_view key);

  loop::Loop& loop_;
  redis::Client& client_;
  std::unique_ptr<ServerTracking> single_;  ///< nullptr in a cluster
  std::map<redis::Client*, std::unique_ptr<Server>> servers_;
};

}  // namespace w8y::store
