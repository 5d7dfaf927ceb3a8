// A virtual Redis: connections, commands, channels, and what can happen to it.
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

/// How long Redis takes, in ns, where its commands are to wait for each other.
class ServiceTimes {
 public:
  virtual ~ServiceTimes() = default;
  /// To accept a connection, and later to close it.
  [[nodiscard]] virtual double of_connection() const = 0;
  /// To read what has come on a connection, and to write what answers it.
  [[nodiscard]] virtual double of_read() const = 0;
  struct Work {
    const Words& words;
    const redis::Script* script;  ///< nullptr: it is plain
    double looked_up;             ///< keys
    double written;
  };
  [[nodiscard]] virtual double of_command(const Work& work) const = 0;
  /// A message, for each who hears it.
  [[nodiscard]] virtual double of_message() const = 0;
};

class Server final : public Service, private Keys::Listener {
 public:
  struct Command {
    const std::string& who;                 ///< the peer's name, or a client's
    const Words& words;                     ///< of a plain command; empty: it is a script
    const redis::Script* script = nullptr;  ///< one of the store's; nullptr: it is none of these
    const Words& key;
    const Words& arg;
    bool may_all = false;                        ///< whatever the ACL forbids
    const std::vector<Words>* queued = nullptr;  ///< what EXEC carries out
  };
  /// Told of each command that is carried out, before and after it.
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
  /// With these, connections are served one after the other, as a Redis does. Without, each
  /// command is carried out when it comes, and answered a little later.
  const ServiceTimes* times = nullptr;

  // of Service
  [[nodiscard]] bool accepts() const override { return up_ && !refusing_; }
  void connected(Peer& peer) override;
  void gone(Peer& peer) override;
  void received(Peer& peer, std::string bytes) override;

  /// A command of a client that has no connection here: an operator's, a user's, another program's.
  Value ask(const std::string& who, const Words& words);
  Value run(const std::string& who, const redis::Script& script, const Words& keys,
            const Words& args);

  // What can happen to it.
  /// Away for a while; then it loads for a while.
  void restart(Duration away, bool loses, Duration loads = std::chrono::milliseconds(200));
  /// Kept until a restart that loses what came after.
  void save() { saved_ = keys_; }
  void hang(bool hung);
  [[nodiscard]] bool hangs() const override { return hung_; }
  /// A command that the ACL of all who are connected forbids, in capitals, to scripts too; empty:
  /// none.
  void forbid(std::string command) { forbidden_ = std::move(command); }
  [[nodiscard]] const std::string& forbidden() const { return forbidden_; }
  /// Of changed keys, as notify-keyspace-events says: KEA, or nothing.
  void tell_of_keys(bool tell) { tells_of_keys_ = tell; }
  void refuse_connections(bool refuse) { refusing_ = refuse; }
  /// An error that answers each write: "READONLY …", "OOM …"; empty: none.
  void refuse_writes(std::string error) { refusal_ = std::move(error); }
  /// A command takes so many times longer.
  void slow_down(unsigned by) { slowness_ = by; }
  void break_connections();

  [[nodiscard]] std::uint64_t commands(const std::string& who) const;
  /// Connections that a host has tried to make.
  void tried(const std::string& who) override { ++tries_[who]; }
  [[nodiscard]] std::uint64_t tries(const std::string& who) const {
    const auto found = tries_.find(who);
    return found == tries_.end() ? 0 : found->second;
  }
  struct Load {
    std::uint64_t commands = 0;
    std::uint64_t messages = 0;     ///< to those who hear a channel
    std::uint64_t connections = 0;  ///< that were made
    std::uint64_t ended = 0;        ///< by their clients
    Duration busy{0};
  };
  /// Since the beginning, with `times`.
  [[nodiscard]] const Load& load() const { return load_; }

 private:
  struct Session {
    std::string input;
    std::unordered_set<std::string> channels;  ///< a hundred thousand, of some
    bool waits = false;                        ///< to be served
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
  void change_channels(Peer& peer, const std::string& channel, bool hears);
  void serve();
  void answer(Peer& peer, const Words& words);
  /// Why it is not carried out, nor queued; empty: it is.
  [[nodiscard]] std::string refusal_of(const Words& words) const;
  Value execute(const std::string& who, const Words& words);
  Value execute_all(const std::string& who, const std::vector<Words>& queued);
  Value plain(const Words& words);
  Value scripted(const std::string& who, const Words& words);
  /// A script's command, as far as its user may.
  Value watched(const Command& command);
  Value carried_out(const Command& command);
  [[nodiscard]] std::string refusal_of(const CommandInfo& info, bool written, bool may_all) const;
  void deliver();
  void send_later(Peer& peer, std::string bytes);

  World& world_;
  const std::string name_;
  Keys keys_;
  std::optional<Keys> saved_;
  std::map<Peer*, Session> sessions_;
  std::vector<Peer*> order_;  ///< in which they came
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
  bool tells_of_keys_ = false;
  std::set<std::string> keys_heard_of_;  ///< that somebody has ever wanted to hear of
  unsigned slowness_ = 1;
  Instant busy_until_{};
  std::uint64_t life_ = 0;
  // with `times`
  std::deque<Peer*> waiting_;
  bool serving_ = false;
  double owed_ns_ = 0;                                            ///< of time that is not spent yet
  std::unordered_map<std::string, std::vector<Peer*>> audience_;  ///< by channel
  Load load_;
};

}  // namespace w8y::sim
