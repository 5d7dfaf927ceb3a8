// Invariants of w8y. They are checked all the time at the servers (locks), at the child processes
// (runs) and at the hosts (outcomes). The first broken invariant ends the world.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulation/children.hpp"
#include "simulation/host.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

struct Broken {
  std::string promise;
  std::string why;
  std::vector<std::string> subjects;  ///< hosts, items and runs whose log lines are printed
};

/// Checks the invariants of another kind of list than circular.
class KindWatch {
 public:
  virtual ~KindWatch() = default;
  virtual void before(Server& server, const Server::Command& command) = 0;
  virtual void after(Server& server, const Server::Command& command, const Value& reply) = 0;
  /// Called when the server has lost writes.
  virtual void lost_writes(Server& server) = 0;
  /// Called in the calm, when there has been no fault for a long time. `room`: a host at this
  /// server has had a free slot for the maximum time that work may wait.
  virtual void check(Server& server, bool room) = 0;
  /// Called when all hosts have left, if they used this server until then.
  virtual void nothing_left(Server& server) = 0;
  // For runs whose claims are not made in Redis. False: the run is of another kind.
  virtual bool child_born(const Child& /*child*/) { return false; }
  virtual bool child_dead(const Child& /*child*/) { return false; }
  virtual bool run_over(const std::string& /*host*/, const EndedRun& /*run*/) { return false; }
};

class Invariants final : public Server::Watcher, public ChildWatcher, public HostWatcher {
 public:
  explicit Invariants(World& world) : world_(world) {}

  /// Records a fault of a host or server (empty: of all) that lasts from now on for `time`.
  void error(const std::string& affected, Duration time);
  /// Called when users have changed a list. Its items are not compared with the earlier ones.
  void user_changes(Server& server, const std::string& list);
  /// Number of changes of a list by clients that are not hosts.
  [[nodiscard]] std::uint64_t changes_of(const Server& server, const std::string& list) {
    return changes_[server.name() + ' ' + list];
  }
  /// Called when a child process starts.
  std::function<void(const Child& child)> at_birth;
  /// Returns the Redis in the running config of a host, empty if it has none; nullopt if it is
  /// dead.
  std::function<std::optional<std::string>(const std::string& host)> redis_of;
  /// Called when an operator releases items or runs them before their time.
  void operator_frees(const std::string& list) { freed_[list] = world_.now(); }
  /// Calls `what` once, when the host next claims at least five items at a time.
  void at_next_claims(const std::string& host, std::function<void()> what) {
    at_claims_[host] = std::move(what);
  }
  /// Calls `what` once with the lifetime of the lock, when the host next claims an item.
  void at_next_claim(const std::string& host, std::function<void(Duration life)> what) {
    at_claim_[host] = std::move(what);
  }
  /// Calls `what` once with the lifetime of the lock, when a renewal next reports a missing lock.
  void at_next_gone(const std::string& host, std::function<void(Duration life)> what) {
    at_gone_[host] = std::move(what);
  }
  /// Records that a host is dead or stalled, and cannot meet the invariants.
  void away(const std::string& host, Instant until) { away_[host] = until; }

  /// Records that an ACL forbids the commands that acquire or release fleet slots for `time`. Runs
  /// continue.
  void places_unknown(const Server& server, Duration time) {
    places_unknown_[server.name()] = world_.now() + time;
  }

  /// Time at which a settlement last freed the item with this lock.
  [[nodiscard]] Instant set_free(const Server& server, const std::string& lock) const {
    const auto found = set_free_.find(server.name() + ' ' + lock);
    return found == set_free_.end() ? Instant::min() : found->second;
  }

  [[nodiscard]] const std::optional<Broken>& broken() const { return broken_; }
  void break_promise(std::string promise, std::string why, std::vector<std::string> subjects);

  struct Count {
    std::uint64_t claims = 0;    ///< claimed items
    std::uint64_t children = 0;  ///< started
    std::uint64_t lapses = 0;    ///< leases that expired during a run
    std::uint64_t overlaps = 0;  ///< that the contract permits
    std::uint64_t settled = 0;
  };
  [[nodiscard]] const Count& count() const { return count_; }
  /// Time of the last claim of an item.
  [[nodiscard]] Instant visited(const std::string& server, const std::string& list,
                                const std::string& item) {
    return visits_[key_of(server, list, item)];
  }
  /// Claims of the items of a list, by server and lock prefix ("server list:lock:").
  struct Turning {
    std::uint64_t claims = 0;
    Instant last{};
  };
  [[nodiscard]] const Turning& turning(const std::string& list) { return turning_[list]; }
  [[nodiscard]] std::size_t living() const { return living_.size(); }
  /// Number of runs of a host that have ended since the start.
  [[nodiscard]] std::uint64_t runs_of(const std::string& host) { return runs_of_[host]; }
  /// Number of claims by all hosts at a server, including claims that returned no items.
  [[nodiscard]] std::uint64_t claims_made(const std::string& server) {
    return claims_made_[server];
  }
  [[nodiscard]] std::uint64_t claims_won(const std::string& server) { return claims_won_[server]; }
  void add(std::unique_ptr<KindWatch> watch) { watches_.push_back(std::move(watch)); }
  [[nodiscard]] const std::vector<std::unique_ptr<KindWatch>>& watches() const { return watches_; }

  // Claims and leases of lists of any kind. The lock of a lease is a key with a value.
  struct ClaimSeen {
    std::string who;
    std::string list;
    std::string item;
    std::string run;
    std::string lock;   ///< the key
    std::string value;  ///< of the lock
    Duration life{0};
    std::int64_t fleet_limit = 0;  ///< 0: none
  };
  void claimed(Server& server, const ClaimSeen& claim);
  /// `again`: the lease was missing.
  void renewed(const std::string& run, Duration life, bool again);
  void ended(const std::string& run);
  /// Called when an operator or another client has ended a claim. Other hosts may claim the item
  /// from now on.
  void on_claimed_elsewhere(const Server& server, const std::string& list, const std::string& item);
  [[nodiscard]] Instant now() const { return world_.now(); }
  void log(const std::string& who, const std::string& about, std::string text) {
    world_.log(who, about, std::move(text));
  }

  /// Checks that no lock is left after the last host has left. `used`: hosts used the server until
  /// then.
  void nothing_left(Server& server, const std::vector<std::string>& lists, bool used);

  // Server::Watcher
  void before(Server& server, const Server::Command& command) override;
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server& server) override;
  // ChildWatcher
  void child_born(const Child& child) override;
  void child_dead(const Child& child) override;
  // HostWatcher
  void run_over(const std::string& host, const std::string& server, const EndedRun& run) override;
  void lease_back(const RunId& run) override;

  [[nodiscard]] bool in_error(const std::string& host, const std::string& server,
                              Instant since) const;

 private:
  struct Run {
    std::string id;
    std::string host;
    std::string server;
    std::string list;
    std::string item;  ///< by brief()
    std::string lock;  ///< empty when it is settled
    std::string lock_in_brief;
    std::string value;
    Instant claimed{};
    std::uint64_t number = 0;   ///< of its claim, in the order of all claims
    std::size_t limit = 0;      ///< fleet_concurrency of its host
    std::uint64_t retaken = 0;  ///< like `number`, of the renewal that regained the lock
    Duration life{0};           ///< of its lock
    Instant lease_ends{};       ///< by the server
    Instant born{};             ///< start of its child
    bool alive = false;
    bool terminates = false;  ///< on_lease_loss
    bool lost_by_store = false;
    bool settled = false;
  };
  struct Rest {
    Instant until;
    Instant claimed;  ///< of the run before the delay
    std::string host;
    std::string run;
    bool quarantined = false;  ///< the delay is that of a quarantine, which lasts longer
    bool by_host = false;      ///< the host holds the claim until the end of the delay
  };

  static std::string key_of(const std::string& server, const std::string& list,
                            const std::string& item) {
    return server + ' ' + list + ' ' + brief(item);
  }
  /// Returns the list of a key such as "work:list".
  static std::string list_of(const std::string& key) { return key.substr(0, key.rfind(":list")); }
  /// Returns the key of the list of a settlement, from its history key "work:runs".
  static std::string list_key_of_settle(const Words& keys) {
    return keys[2].substr(0, keys[2].size() - 4) + "list";
  }
  static std::string lock_of(const Run& run) { return run.server + ' ' + run.lock_in_brief; }
  [[nodiscard]] bool is_marked(const Server& server, const std::string& lock,
                               const Run& run) const {
    const auto mark = marks_.find(server.name() + ' ' + lock);
    return mark != marks_.end() && mark->second == run.value;
  }
  [[nodiscard]] bool is_away(const std::string& host, Instant since) const;
  [[nodiscard]] bool stood_still(const Run& run) const;
  [[nodiscard]] bool may_overlap(const Run& other, const Run& run) const;
  template <typename Told>
  bool is_of_watch(Told told) {
    return std::any_of(watches_.begin(), watches_.end(),
                       [&](const auto& watch) { return told(*watch); });
  }
  void after_operator(Server& server, const Server::Command& command);
  void after_rerun(Server& server, const Server::Command& command, const Value& reply);
  void check_marks(Server& server, const Server::Command& claim, const std::string& item,
                   const std::string& value);
  void check_listed(Server& server, const Server::Command& claim, const std::string& item);
  void before_removal(Server& server, const Server::Command& removal);
  void after_removal(Server& server);
  static bool holds(Server& server, const Run& run);
  void check_rest(const Run& run);
  [[nodiscard]] bool has_moved(const std::string& host, const std::string& from) const;
  void check_size(const Server::Command& command);
  void check_fleet(const Run& run);
  void after_claim(Server& server, const Server::Command& command, const Value& reply);
  void after_renew(Server& server, const Server::Command& command, const Value& reply);
  void before_settle(Server& server, const Server::Command& command);
  void without_old_ends(Server& server, const Server::Command& command);
  void after_settle(Server& server, const Server::Command& command, const Value& reply);
  static void finish(Run& run);
  void lease_ends_at(Run& run, Instant at);
  void lease_over(const std::string& id, Server* server);
  void check_items(Server& server, const std::string& list, const std::string& who);
  static std::uint64_t sum_of(Server& server, const std::string& list);

  World& world_;
  std::vector<std::unique_ptr<KindWatch>> watches_;
  std::optional<Broken> broken_;
  std::map<RunId, Run> runs_;
  std::vector<const Run*> held_;  ///< runs that hold items, before a removal by an operator
  std::map<std::string, std::set<std::string>> living_;  ///< children, by item
  std::map<std::string, std::set<std::string>> places_;  ///< runs with a fleet slot, by list
  std::map<std::string, Run*> last_claim_;               ///< by lock
  std::map<std::string, Rest> rests_;                    ///< by lock
  std::map<std::string, Instant> visits_;
  std::map<std::string, Turning> turning_;
  std::map<std::string, std::uint64_t> items_;    ///< checksum of each list, by server and key
  std::map<std::string, std::uint64_t> changes_;  ///< by server and list
  std::map<std::string, Instant> changed_at_;     ///< last change by other clients, likewise
  std::map<std::string, Instant> error_until_;
  std::map<std::string, Instant> away_;
  std::map<std::string, Instant> places_unknown_;  ///< end time, by server
  std::map<std::string, std::function<void()>> at_claims_;
  std::map<std::string, std::function<void(Duration life)>> at_claim_;
  std::map<std::string, std::function<void(Duration life)>> at_gone_;
  std::map<std::string, Instant> freed_;
  std::map<std::string, Instant> set_free_;
  std::map<std::string, std::string>
      marks_;  ///< value of the lock of a run that is marked, by lock
  std::map<std::string, std::uint64_t> runs_of_;
  std::map<std::string, Server*> servers_;
  std::uint64_t claims_ = 0;
  std::map<std::string, std::uint64_t> claims_made_;
  std::map<std::string, std::uint64_t> claims_won_;  ///< claimed items
  std::uint64_t checks_ = 0;                         ///< checks of lists
  Count count_;
  struct ItemState {
    std::string lock;
    std::int64_t failures = 0;
    bool quarantined = false;
  };
  /// State of an item before its settlement.
  struct Before {
    std::string run;
    std::string item;
    std::string list;
    std::string lock;
    bool old = false;
    bool failed = false;  ///< it counts a failure if the run still holds the lock
    ItemState was;
    ItemState due;  ///< after it, if outdated settlements change nothing
  };
  static ItemState state_of(Keys& keys, const Server::Command& command, const std::string& lock,
                            const std::string& item);
  std::vector<Before> before_;
  void check_settled(Server& server, const Server::Command& command, const Before& before,
                     const ItemState& now);
  bool after_breaker(Server& server, const std::string& list);
  std::map<std::string, std::string> open_;  ///< since when breakers are open, by server and list
};

}  // namespace w8y::sim
