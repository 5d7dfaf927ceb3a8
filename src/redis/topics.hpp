// State machine of subscriptions, without I/O: channels that are wanted, requested and confirmed.
//
// For each name, SUBSCRIBE and UNSUBSCRIBE alternate and follow what is wanted. The server replies
// in the order of the requests, so a name is confirmed when no SUBSCRIBE of it is in flight.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace w8y::redis {

class MessageHandler;

/// One subscription to a topic.
struct TopicEntry {
  std::string_view name;  ///< owned by the topics, from add() on
  MessageHandler* hearer = nullptr;
  bool alive = true;  ///< false: receives nothing more, even while it is still in a list
};
using TopicEntries = std::vector<std::shared_ptr<TopicEntry>>;

class Topics {
 public:
  struct Command {
    bool subscribe = true;
    std::vector<std::string> names;
  };

  /// Adds an entry. True if the topic is already confirmed; then no confirmation follows.
  bool add(const std::shared_ptr<TopicEntry>& entry);
  void remove(const std::shared_ptr<TopicEntry>& entry);

  /// Called when there is a new connection, on which nothing was requested yet.
  void connected();
  void disconnected();
  /// Returns the commands, in order, that make the topics of the server equal to the wanted ones.
  /// They count as sent. Empty while there is no connection.
  std::vector<Command> commands();
  /// Records the server's reply for a name. Returns the entries to notify that the topic is
  /// confirmed.
  TopicEntries confirmed(bool subscribe, std::string_view name);
  /// Records that the server refuses a SUBSCRIBE of the name.
  void refused(std::string_view name);
  /// Requests one of the refused topics again, since permissions can change. When the server
  /// confirms it, all refused topics are requested again. False if no topic is refused.
  bool retry_refused();

  /// Entries that receive the messages of a topic. A copy, since entries may be added and removed
  /// while they are called.
  [[nodiscard]] TopicEntries entries(std::string_view name) const;
  [[nodiscard]] bool is_confirmed(const TopicEntry& entry) const;
  /// Calls `visit` for all entries.
  void each(const std::function<void(TopicEntry&)>& visit) const;

 private:
  struct Topic {
    [[nodiscard]] bool wanted() const { return !entries.empty(); }

    TopicEntries entries;
    bool dirty = false;        ///< its name is in dirty_
    bool requested = false;    ///< SUBSCRIBE was sent after the last UNSUBSCRIBE
    bool confirmed = false;    ///< and the server has replied
    bool retried = false;      ///< it was refused before
    unsigned unconfirmed = 0;  ///< SUBSCRIBEs in flight
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };
  using ByName = std::unordered_map<std::string, Topic, Hash, std::equal_to<>>;

  void mark(std::string_view name, Topic& topic);
  void resubscribe(const std::string& name);
  void erase(ByName::iterator topic);

  bool connected_ = false;
  ByName topics_;
  std::vector<std::string> dirty_;  ///< names that may need a command
  std::set<std::string> refused_;   ///< names of topics
  std::string last_retried_;        ///< a name in refused_
};

}  // namespace w8y::redis
