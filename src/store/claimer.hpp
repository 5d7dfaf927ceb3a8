// Claims of one list, for every kind of work in Redis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/list_config.hpp"
#include "core/timers.hpp"
#include "store/claim_result.hpp"
#include "store/item_room.hpp"
#include "store/leases.hpp"
#include "store/redis_session.hpp"
#include "store/store_error.hpp"

namespace w8y::store {

/// Returns the keys of a lease store. They live as long as it does.
template <class Store>
auto keys_of(const std::shared_ptr<Store>& store) {
  using Keys = std::remove_reference_t<decltype(store->keys())>;
  return std::shared_ptr<Keys>(store, &store->keys());
}

/// State of a list that its claims have found. It outlives the Claimer of an idle list.
struct ClaimMemory {
  std::optional<std::size_t> longest;  ///< bytes of the longest item in the last call; nullopt =
                                       ///< unknown
  std::uint64_t newest_fence = 0;      ///< the largest fencing token that this host has seen
};

/// Config and keys of a claim. A reload does not change them before the reply.
template <class Store>
struct ClaimTerms {
  ListConfigPtr rule;
  std::shared_ptr<Store> store;
  Instant sent{};  ///< time before the last call was sent
};

/// Claim in flight: calls follow each other until one has claimed an item, or no items are left.
template <class Store, class Scan>
struct OpenClaim : ClaimTerms<Store> {
  std::size_t wanted = 0;
  Scan scan;                ///< state that only this kind of work has
  std::vector<RunId> runs;  ///< of the last call, one per wanted item
  std::size_t calls = 0;    ///< number of calls so far
  std::vector<ClaimReply::Parked> parked;
};

/// Defaults for kinds of work of Claimer.
struct ClaimKind {
  struct Note {};
  static Note note(ClaimedItem&) { return {}; }
  static Call call(ClaimedItem&) { return {}; }
  static std::string reason(std::string error, const ListConfig&) { return error; }
};

/// Sends the claims of one list and holds the leases of the claimed items. If the items are long, a
/// claim waits until this host has memory for them and Redis has served other clients. A reply that
/// arrives when its leases are half over starts no run: all items are handed back.
///
/// `Kind` is the kind of work. It has:
///   Store, Scan        lease store with keys(); state of a claim in flight
///   Open               OpenClaim<Store, Scan>
///   Result             derived from ClaimResult
///   `Note`             data of the claimed item that its settlement needs, made by `note(item)`
///   items              name of its items in messages
///   most_claimed       maximum number of items per call, so that Redis is not blocked for long
///   most_bytes         maximum bytes of an item
///   most_held(config)  maximum bytes of items that the list may hold
///   script             the claim script
///   write(session, open, memory, call)
///                      sets its keys and arguments
///   read(reply, open, result)
///                      reads its reply
///   undo(session, open)
///                      returns the call that undoes an in-doubt claim
///   set_lock(terms, keys, holder, item)
///                      sets key and value of a lease, and item and confirm if the kind uses them
///   bytes_of(item)     size in memory
///   call(item)         values for the executor that differ from the defaults
///   reason(error, config)
///                      an error of the script as a sentence
/// ClaimKind has the defaults.
/// The implementation is in claimer_impl.hpp, for the file that instantiates this template.
template <class Kind>
class Claimer {
 public:
  using Store = typename Kind::Store;
  using Open = typename Kind::Open;
  using Terms = ClaimTerms<Store>;
  using Result = typename Kind::Result;
  using Claimed = typename decltype(Result::taken)::value_type;

  /// The list. Its callbacks come from the loop, except before_call() and no_room().
  class Handler : public LeaseHandler {
   public:
    /// Called before each call. Settlements that are sent here share its write.
    virtual void before_call(Open& open) = 0;
    /// Called with the result of each call, or with its error.
    virtual void on_result(Open& /*open*/, Result& /*result*/) {}
    virtual void on_error(const redis::Answer& /*reply*/) {}
    /// Called before the leases are made, to add data that only this kind of work has.
    virtual void complete(const Open& /*open*/, const Result& /*result*/, ClaimReply& /*reply*/) {}
    /// Called when the claim waits for memory. on_claimed() follows.
    virtual void no_room() {}
    /// Called when there may be memory for the claim that had no room.
    virtual void has_room() = 0;
    /// Ends a claim as if it had not been made.
    virtual void hand_back(const Claim& claim) = 0;
  };

  /// A claim whose lease is no longer renewed.
  struct Ended {
    LeaseTerms lease;
    Instant ends{};        ///< end of the lease
    bool renewed = false;  ///< whether a renewal was sent
    ItemRoom::Hold room;
    typename Kind::Note note;
    [[nodiscard]] std::shared_ptr<Store> store() const {
      return std::static_pointer_cast<Store>(lease.store);
    }
    /// Time by which the key of the lease has expired, even if a last renewal is in flight.
    [[nodiscard]] Instant forget_at() const { return ends + lease.expiry; }
  };

  /// `memory`, `handler` and `source` must outlive this object. `source` receives the replies.
  Claimer(RedisSession& session, ClaimMemory& memory, Handler& handler, WorkQueueHandler& source);
  ~Claimer();
  Claimer(const Claimer&) = delete;
  Claimer& operator=(const Claimer&) = delete;

  /// Claims up to `wanted` items. At most one claim at a time; one on_claimed() follows.
  void claim(ListConfigPtr rule, std::shared_ptr<Store> store, std::size_t wanted,
             typename Kind::Scan scan = {});
  /// Holds an item that another script has claimed. If the reply came too late, hands it back and
  /// returns nullopt.
  std::optional<Claim> hold_claimed(const Terms& terms, const RunId& run, Claimed&& item);
  /// Stops waiting for memory.
  void stop_waiting() { room_.leave(); }

  /// Returns whether this host holds the item of the run.
  [[nodiscard]] bool holds(const RunId& run) const { return held_.contains(run); }
  /// Returns the number of items that this host holds.
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  [[nodiscard]] bool may_start(const RunId& run) const;
  /// Ends the renewals of a claim. They end before the settlement is sent: a renewal that arrived
  /// after it would find the key missing and set it again, without a run. Returns nullopt if this
  /// host does not hold the item.
  std::optional<Ended> end(const RunId& run);
  /// Returns whether this object neither holds anything nor waits.
  [[nodiscard]] bool idle() const {
    return held_.empty() && !room_.waits() && !room_timer_.pending() && !later_.pending();
  }

  static constexpr const char* too_late = "the reply to a claim came too late";

 private:
  struct Held {
    Leases::Lease lease;
    ItemRoom::Hold room;
    typename Kind::Note note;
  };

  void send();
  void reply_without_room();
  void answered(const redis::Answer& answer, const RedisSession::LargeCall& made);
  void failed(const StoreError& trouble);
  ClaimReply make_reply(ClaimEnd end, std::string detail);
  Claim hold(const Terms& terms, const RunId& run, Claimed&& item);
  [[nodiscard]] bool is_late(const Terms& terms) const {
    return session_.clock.now() - terms.sent > terms.rule->key_expiry / 2;
  }

  RedisSession& session_;
  ClaimMemory& memory_;
  Handler& handler_;
  WorkQueueHandler& source_;
  Timer room_timer_;
  ItemRoom::Member room_;
  Timer later_;
  Open open_;
  std::unordered_map<RunId, Held> held_;  ///< must be destroyed before `room_`
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
