// Virtual Redis: connections, Redis commands, channels and faults.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulation/keys.hpp"
#include "simulation/lua.hpp"
#include "simulation/service.hpp"
#include "simulation/transactions.hpp"
#include "simulation/value.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

/// Time that Redis needs, in ns, if its commands wait for each other.
class ServiceTimes {
 public:
  virtual ~ServiceTimes() = default;
  /// Time to accept a connection and to close it later.
  [[nodiscard]] virtual double of_connection() const = 0;
  /// Time to read the input of a connection and to write the replies.
  [[nodiscard]] virtual double of_read() const = 0;
  struct Work {
    const Words& words;
    const redis::Script* script;  ///< nullptr for a command without a script
    double find_count;            ///< number of keys
    double written;
  };
  [[nodiscard]] virtual double of_command(const Work& work) const = 0;
  /// Time of one message to one subscriber.
  [[nodiscard]] virtual double of_message() const = 0;
};

class Server final : public Service, private Keys::Listener {
 public:
  struct Command {
    const std::string& who;                 ///< name of the peer or client
    const Words& words;                     ///< empty for a script
    const redis::Script* script = nullptr;  ///< of the store; nullptr if it is none
    const Words& key;
    const Words& arg;
    bool may_all = false;                        ///< ignores the ACL
    const std::vector<Words>* queued = nullptr;  ///< commands that EXEC executes
  };
  /// Observer that is called before and after each command.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void before(Server& server, const Command& command) = 0;
    virtual void after(Server& server, const Command& command, const Value& reply) = 0;
    virtual void lost_writes(Server& server) = 0;
  };

  Server(World& world, std::string name) : world_(world), name_(std::move(name)) {
    keys_.listener = this;
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  Keys& keys();
  Watcher* watcher = nullptr;
  /// If set, connections are served one after the other, as by Redis. If nullptr, each command is
  /// executed when it arrives, and its reply follows a little later.
  const ServiceTimes* times = nullptr;

  // Service
  [[nodiscard]] bool accepts() const override { return up_ && !refusing_; }
  void connected(Peer& peer) override;
  void gone(Peer& peer) override;
  void received(Peer& peer, std::string bytes) override;

  /// Executes a Redis command of a client without a connection: an operator, a user or another
  /// program.
  Value command(const std::string& who, const Words& words);
  Value run(const std::string& who, const redis::Script& script, const Words& keys,
            const Words& args);

  // Faults.
  /// Stops the server for `away`. Then it replies LOADING for `loads`.
  void restart(Duration away, bool loses, Duration loads = std::chrono::milliseconds(200));
  /// Saves the keys for a restart that loses later writes.
  void save() { saved_ = keys_; }
  void hang(bool hung);
  [[nodiscard]] bool hangs() const override { return hung_; }
  /// Sets the command, in capitals, that the ACL forbids to all connections and their scripts.
  /// Empty: none.
  void forbid(std::string command) { forbidden_ = std::move(command); }
  [[nodiscard]] const std::string& forbidden() const { return forbidden_; }
  /// Permits or forbids CLIENT TRACKING and CLIENT CACHING. Keys that are tracked remain so.
  void permit_tracking(bool permit);
  void refuse_connections(bool refuse) { refusing_ = refuse; }
  /// Sets the error reply to each write: "READONLY …", "OOM …". Empty: none.
  void refuse_writes(std::string error) { refusal_ = std::move(error); }
  /// Multiplies the time of each command by `by`.
  void slow_down(unsigned by) { slowness_ = by; }
  void break_connections();

  [[nodiscard]] std::uint64_t commands(const std::string& who) const;
  /// Counts an attempt of a host to connect.
  void tried(const std::string& who) override { ++tries_[who]; }
  [[nodiscard]] std::uint64_t tries(const std::string& who) const {
    const auto found = tries_.find(who);
    return found == tries_.end() ? 0 : found->second;
  }
  struct Load {
    std::uint64_t commands = 0;
    std::uint64_t messages = 0;     ///< to subscribers
    std::uint64_t connections = 0;  ///< accepted
    std::uint64_t ended = 0;        ///< closed by their clients
    Duration busy{0};
  };
  /// Load since the start. Counted only with `times`.
  [[nodiscard]] const Load& load() const { return load_; }

 private:
  struct Session {
    std::string input;
    std::unordered_set<std::string> channels;  ///< up to 100,000
    bool waits = false;                        ///< is in `waiting_`
    std::int64_t id = 0;
    std::int64_t redirect = 0;  ///< ID of the receiver of its invalidations; 0 = no tracking
    bool caching = false;       ///< the next command reads keys that are tracked
    Transaction transaction;
  };
  struct Output {
    Peer* peer;
    std::string bytes;
  };

  void touched(const std::string& key, const char* event) override;
  [[nodiscard]] std::int64_t hearers(const std::string& channel) const override;
  void work(Peer& peer);
  std::string reply_to(Peer& peer, const Words& words);
  [[nodiscard]] Value client_command(Session& session, const Words& words);
  void track(Peer& peer, const Words& words);
  void change_channels(Peer& peer, const std::string& channel, bool hears);
  void serve();
  void reply(Peer& peer, const Words& words);
  /// Returns the error of a command that is neither executed nor queued, or an empty string.
  [[nodiscard]] std::string refusal_of(const Words& words) const;
  Value execute(const std::string& who, const Words& words);
  Value execute_all(const std::string& who, const std::vector<Words>& queued);
  Value plain(const Words& words);
  Value scripted(const std::string& who, const Words& words);
  /// Executes a command and calls the watcher before and after it.
  Value watched(const Command& command);
  Value carried_out(const Command& command);
  [[nodiscard]] std::string refusal_of(const CommandInfo& info, bool written, bool may_all) const;
  void deliver();
  /// Returns the invalidations of the last command, with their receivers.
  [[nodiscard]] std::vector<Output> extract_invalidations();
  void send_later(Peer& peer, std::string bytes);

  World& world_;
  const std::string name_;
  Keys keys_;
  std::optional<Keys> saved_;
  std::map<Peer*, Session> sessions_;
  std::vector<Peer*> order_;  ///< of their connections
  std::set<std::string> loaded_;
  std::vector<Published> published_;
  std::map<std::string, std::uint64_t> commands_;
  std::map<std::string, std::uint64_t> tries_;
  bool up_ = true;
  bool loading_ = false;
  bool refusing_ = false;
  bool hung_ = false;
  std::string refusal_;
  std::string forbidden_;
  bool permits_tracking_ = false;
  std::int64_t last_id_ = 0;
  Peer* current_ = nullptr;  ///< connection whose command is being executed
  std::unordered_map<std::string, std::vector<Peer*>> tracked_;  ///< by key
  struct Invalidation {
    std::int64_t to;
    std::string key;
  };
  std::vector<Invalidation> invalidations_;  ///< to be sent behind the command
  unsigned slowness_ = 1;
  Instant busy_until_{};
  std::uint64_t life_ = 0;
  // with `times`
  std::deque<Peer*> waiting_;
  bool serving_ = false;
  double owed_ns_ = 0;  ///< service time that is not spent yet
  std::unordered_map<std::string, std::vector<Peer*>> audience_;  ///< by channel
  Load load_;
};

}  // namespace w8y::sim
