// State machine of subscriptions, without I/O: channels that are wanted, requested and confirmed.
//
// Of each name, SUBSCRIBE and UNSUBSCRIBE follow what is wanted, one after the other and never
// twice the same. The server answers in the order in which it was asked, so a name is confirmed
// when no SUBSCRIBE of it is on its way any more.
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

/// One wish to hear of a topic.
struct TopicEntry {
  std::string_view name;  ///< from add() on, as the topics have it
  MessageHandler* hearer = nullptr;
  bool alive = true;  ///< false: nothing is told any more, also where it is still in a list
};
using TopicEntries = std::vector<std::shared_ptr<TopicEntry>>;

class Topics {
 public:
  struct Command {
    bool subscribe = true;
    std::vector<std::string> names;
  };

  /// True: the topic is confirmed already, and nothing will say so again.
  bool add(const std::shared_ptr<TopicEntry>& entry);
  void remove(const std::shared_ptr<TopicEntry>& entry);

  /// A new connection, on which nothing was asked yet.
  void connected();
  void disconnected();
  /// What must be sent, in this order, so that the server's topics become the wanted ones. It
  /// counts as sent. Nothing while there is no connection.
  std::vector<Command> commands();
  /// The server's answer for a name: who is to be told that the topic is confirmed now.
  TopicEntries confirmed(bool subscribe, std::string_view name);
  /// The server forbids a SUBSCRIBE of it.
  void refused(std::string_view name);
  /// Requests one of the refused topics again: permissions can change. When the server confirms it,
  /// all of them are requested again. False: none was refused.
  bool retry_refused();

  /// Who hears of a topic's messages. A copy: they may come and go while they are told.
  [[nodiscard]] TopicEntries entries(std::string_view name) const;
  [[nodiscard]] bool is_confirmed(const TopicEntry& entry) const;
  /// All that there are.
  void each(const std::function<void(TopicEntry&)>& visit) const;

 private:
  struct Topic {
    [[nodiscard]] bool wanted() const { return !entries.empty(); }

    TopicEntries entries;
    bool dirty = false;        ///< its name is in dirty_
    bool asked = false;        ///< SUBSCRIBE has been sent after any UNSUBSCRIBE
    bool confirmed = false;    ///< and the server has answered
    bool retried = false;      ///< it was refused before
    unsigned unconfirmed = 0;  ///< SUBSCRIBEs on their way
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };
  using ByName = std::unordered_map<std::string, Topic, Hash, std::equal_to<>>;

  void mark(std::string_view name, Topic& topic);
  void ask_again(const std::string& name);
  void erase(ByName::iterator topic);

  bool connected_ = false;
  ByName topics_;
  std::vector<std::string> dirty_;  ///< names that may need a command
  std::set<std::string> refused_;   ///< names of topics
  std::string last_retried_;        ///< of them
};

}  // namespace w8y::redis
