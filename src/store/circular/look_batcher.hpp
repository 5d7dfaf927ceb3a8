// Whether lists in which there was nothing to do have something now: many asked about in one
// command.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "store/circular/list.hpp"

namespace w8y::redis {
class Client;
}

namespace w8y::store {

/// Gathers the looks of a turn of the loop. Empty lists are asked for by EXISTS, which says how
/// many of them are there: none, as a rule. Those in which all is locked are asked for by a script
/// (look.lua). In a cluster, only lists in one slot can share a command.
/// Where Redis can't be asked, or refuses, the answer is that a claim is worth it: it will say what
/// is wrong.
class LookBatcher {
 public:
  /// Told once, never from inside a call. `seen`: items of a locked list that were looked at.
  using Answer = std::function<void(const LookReply& reply, std::int64_t seen)>;

  LookBatcher(redis::Client& client, TimerQueue& timers, const Clock& clock, bool cluster);
  ~LookBatcher();
  LookBatcher(const LookBatcher&) = delete;
  LookBatcher& operator=(const LookBatcher&) = delete;

  /// An empty list that is asked about: one question of each at a time. Ten thousand of them ask
  /// once a second, so there is no function and no copy of a name for a question.
  class Empty {
   public:
    Empty() = default;
    virtual ~Empty() { withdraw(); }
    Empty(const Empty&) = delete;
    Empty& operator=(const Empty&) = delete;

   protected:
    virtual void add_key_of_list(std::string& to) const = 0;
    /// Never from inside a call.
    virtual void empty_looked(const LookReply& reply) = 0;
    /// It is not told.
    void withdraw();

   private:
    friend class LookBatcher;
    void answer(const LookReply& reply);

    struct Batch {
      Batch() = default;
      ~Batch();
      Batch(const Batch&) = delete;
      Batch& operator=(const Batch&) = delete;
      std::vector<Empty*> lists;  ///< nullptr: it is gone
    };
    Batch* batch_ = nullptr;  ///< nullptr: it asks nothing
    std::uint32_t place_ = 0;
  };
  /// Whether an empty list still is.
  void if_empty(Empty& list);
  /// Whether a list of `length` items, all of them locked, still is: its length is looked at, and
  /// some locks from index `first` on, not beyond its end.
  void if_locked(std::string list, std::string lock_prefix, std::int64_t length, std::int64_t first,
                 Answer answer);

  /// A new connection may be another user's.
  void forget_refusals();

  /// What the last look at lists of this kind cost each, where there are `lists` of any kind.
  /// A look at the few that are due says little: while ten thousand lists start, three may be.
  [[nodiscard]] double cost(bool empty, std::size_t lists) const {
    if (empty && exists_forbidden_) return 1;
    return std::min(empty ? cost_of_empty_ : cost_of_locked_, most_cost(lists));
  }

  /// Lists in one EXISTS: about 50 us of Redis.
  static constexpr std::size_t most_empty = 512;
  /// Items, and lists, in one call of the script, as in a claim.
  static constexpr std::size_t most_locked = 256;

 private:
  struct Locked {
    std::string list;
    std::string lock_prefix;
    std::int64_t length = 0;
    std::int64_t first = 0;
    Answer answer;
  };
  /// Before the first look; in a cluster, a prefix has a slot of its own as a rule.
  static constexpr double first_guess = 1.0 / 64;
  /// So few may each have a look of their own; of more, some are due together.
  static constexpr double alone = 32;
  [[nodiscard]] double first_cost() const { return cluster_ ? 1 : first_guess; }
  [[nodiscard]] double most_cost(std::size_t lists) const {
    return std::max(first_cost(), alone / static_cast<double>(lists));
  }
  using Empties = Empty::Batch;
  using Lockeds = std::vector<Locked>;

  void gather();
  void send();
  void ask_empty(std::shared_ptr<Empties> batch, std::size_t begin, std::size_t end, double cost);
  void ask_which(const std::shared_ptr<Empties>& batch, std::size_t begin, std::size_t end,
                 double cost);
  void ask_locked(std::shared_ptr<Lockeds> lists, std::size_t begin, std::size_t end);
  static void answer(const Empties& batch, std::size_t begin, std::size_t end,
                     const LookReply& reply);
  [[nodiscard]] std::uint16_t group(const std::string& list) const;
  [[nodiscard]] static std::string key_of(const Empty& list);

  redis::Client& client_;
  const Clock& clock_;
  bool cluster_;
  Timer gather_;
  /// By slot in a cluster; else all in one.
  std::map<std::uint16_t, std::shared_ptr<Empties>> empty_;
  std::map<std::uint16_t, Lockeds> locked_;
  double cost_of_empty_;
  double cost_of_locked_;
  bool exists_forbidden_ = false;  ///< by an ACL
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
