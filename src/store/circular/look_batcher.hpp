// Peeks at lists that were empty or had no free item, many of them in one command.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "store/circular/list.hpp"
#include "store/tracking.hpp"

namespace w8y::redis {
class Client;
}

namespace w8y::store {

/// Batches the peeks of one loop iteration. Empty lists are checked by EXISTS, which returns how
/// many of them exist: usually none. Lists in which all items are locked are checked by a script
/// (peek.lua). In a cluster, only lists in one hash slot can share a command.
/// Where Redis can track keys, the next change of each list is reported.
/// If Redis is unavailable or refuses the command, the reply is that a claim is worthwhile: the
/// claim reports the error.
class LookBatcher {
 public:
  /// Result of a peek at a locked list.
  struct Seen {
    std::int64_t items = 0;                     ///< number of items
    std::optional<std::int64_t> right_of_free;  ///< number of items to the right of a free item
  };
  /// Called once, never from inside a call.
  using Answer = std::function<void(const LookReply& reply, const Seen& seen)>;

  LookBatcher(redis::Client& client, Tracking& tracking, TimerQueue& timers, const Clock& clock,
              bool cluster);
  ~LookBatcher();
  LookBatcher(const LookBatcher&) = delete;
  LookBatcher& operator=(const LookBatcher&) = delete;

  /// An empty list with at most one peek in flight. Ten thousand of them may peek once per second,
  /// so a peek needs no std::function and no copy of the name.
  class Empty : public Tracking::Key {
   public:
    ~Empty() override { withdraw(); }

   protected:
    virtual void add_key_of_list(std::string& to) const = 0;
    /// Called with the reply, never from inside a call.
    virtual void empty_looked(const LookReply& reply) = 0;
    /// Cancels the peek: no reply follows.
    void withdraw();

   private:
    friend class LookBatcher;
    void answer(const LookReply& reply);

    struct Batch {
      Batch() = default;
      ~Batch();
      Batch(const Batch&) = delete;
      Batch& operator=(const Batch&) = delete;
      std::vector<Empty*> lists;  ///< nullptr = the list was destroyed
    };
    Batch* batch_ = nullptr;  ///< nullptr = no peek in flight
    std::uint32_t place_ = 0;
  };
  /// Peeks whether an empty list is still empty.
  void if_empty(Empty& list);
  /// A list of `length` items, all of them locked, and the part of it that a peek examines.
  struct Part {
    std::string list;  ///< key
    std::string lock_prefix;
    std::int64_t length = 0;
    std::int64_t first = 0;  ///< index
    store::Look look = store::Look::items;
  };
  /// Peeks whether a locked list is unchanged. Checks its length, and some locks from the first one
  /// on, up to the end of the list. `key`: the list, which is tracked from then on if possible.
  /// With Look::length, a list that peeks alone needs no script.
  void if_locked(Part part, Tracking::Key& key, Answer answer);
  /// Returns whether the next change of this key is reported after a peek.
  [[nodiscard]] bool tracks(std::string_view key) {
    return tracking_.on(key) && !exists_forbidden_;
  }

  /// Forgets what an ACL has refused. A new connection may have another user.
  void forget_refusals();

  /// Returns the cost per list of the last peek of this kind, limited for `lists` lists in total.
  /// The limit matters because a peek at a few due lists says little: while ten thousand lists
  /// start, three may be due.
  [[nodiscard]] double cost(bool empty, std::size_t lists) const {
    if (empty && exists_forbidden_) return 1;
    return std::min(empty ? cost_of_empty_ : cost_of_locked_, most_cost(lists));
  }

  /// Maximum number of lists in one EXISTS, which takes Redis about 50 us.
  static constexpr std::size_t most_empty = 512;
  /// Maximum number of lists in one call of the script, and of items with Look::items.
  static constexpr std::size_t most_locked = 256;
  /// Maximum number of items with Look::many. Redis needs about 4 ms for them.
  static constexpr std::size_t most_items = 2560;
  /// Returns LookReply::next. With this interval, a host examines a list once in 0.9 s if it has
  /// 10,000 items, and once in 30 s if it has a million.
  static Duration next_after(std::int64_t length);

 private:
  struct Locked : Part {
    Tracking::Peek tracked;  ///< empty = it is not tracked
    Answer answer;
  };
  /// Cost before the first peek. In a cluster, each prefix usually has a hash slot of its own.
  static constexpr double first_guess = 1.0 / 64;
  /// Number of lists up to which each may have a peek of its own. With more, some are due together.
  static constexpr double alone = 32;
  [[nodiscard]] double first_cost() const { return cluster_ ? 1 : first_guess; }
  [[nodiscard]] double most_cost(std::size_t lists) const {
    return std::max(first_cost(), alone / static_cast<double>(lists));
  }
  using Empties = Empty::Batch;
  using Lockeds = std::vector<Locked>;

  void gather();
  void send();
  [[nodiscard]] double ask_to_track(const Lockeds& lists, std::size_t begin, std::size_t end);
  void ask_empty(std::shared_ptr<Empties> batch, std::size_t begin, std::size_t end, double cost);
  void ask_which(const std::shared_ptr<Empties>& batch, std::size_t begin, std::size_t end,
                 double cost);
  void ask_length(Locked& list);
  void ask_locked(std::shared_ptr<Lockeds> lists, std::size_t begin, std::size_t end, double cost);
  static void answer(const Empties& batch, std::size_t begin, std::size_t end,
                     const LookReply& reply);
  [[nodiscard]] std::uint16_t group(const std::string& list) const;
  [[nodiscard]] static std::string key_of(const Empty& list);

  redis::Client& client_;
  Tracking& tracking_;
  const Clock& clock_;
  bool cluster_;
  Timer gather_;
  /// By hash slot in a cluster; else all under one number.
  std::map<std::uint16_t, std::shared_ptr<Empties>> empty_;
  std::map<std::uint16_t, Lockeds> locked_;
  double cost_of_empty_;
  double cost_of_locked_;
  bool exists_forbidden_ = false;  ///< an ACL forbids EXISTS
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
