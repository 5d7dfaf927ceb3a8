// What w8y promises, watched all the time: at the servers, where locks change; at the kernel, where
// children are born and die; and at the hosts, where runs end. The first promise that is broken
// ends the world.
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
  std::vector<std::string> subjects;  ///< hosts, items and runs whose story is to be told
};

/// Watches the keys of a kind of work besides circular lists.
class KindWatch {
 public:
  virtual ~KindWatch() = default;
  virtual void before(Server& server, const Server::Command& command) = 0;
  virtual void after(Server& server, const Server::Command& command, const Value& reply) = 0;
  /// The server has, by now.
  virtual void lost_writes(Server& server) = 0;
  /// Nothing has been in the way for long. `room`: a host that is at this server has had room for
  /// its work for as long as work may wait.
  virtual void look(Server& server, bool room) = 0;
  /// All hosts have left, and were at this server until then.
  virtual void nothing_left(Server& server) = 0;
  // Runs whose claims are not seen at a Redis are its own: false, it is none of those.
  virtual bool child_born(const Child& /*child*/) { return false; }
  virtual bool child_dead(const Child& /*child*/) { return false; }
  virtual bool run_over(const std::string& /*host*/, const EndedRun& /*run*/) { return false; }
};

class Invariants final : public Server::Watcher, public ChildWatcher, public HostWatcher {
 public:
  explicit Invariants(World& world) : world_(world) {}

  /// Something is in the way of a host or a server (nothing: of all) from now on, so long.
  void error(const std::string& whom, Duration time);
  /// Users change what is in a list: what was there is not compared.
  void user_changes(Server& server, const std::string& list);
  /// How often others than hosts have changed what is in a list.
  [[nodiscard]] std::uint64_t changes_of(const Server& server, const std::string& list) {
    return changes_[server.name() + ' ' + list];
  }
  /// Told of each child that is born.
  std::function<void(const Child& child)> at_birth;
  /// An operator sets items free or runs them before their time.
  void operator_frees(const std::string& list) { freed_[list] = world_.now(); }
  /// Once, when a host has claimed several items at a time.
  void at_next_claims(const std::string& host, std::function<void()> what) {
    at_claims_[host] = std::move(what);
  }
  /// Once, when a host has claimed an item, and its lock lives for so long; or has been told that
  /// a lock of its own is gone.
  void at_next_claim(const std::string& host, std::function<void(Duration life)> what) {
    at_claim_[host] = std::move(what);
  }
  void at_next_gone(const std::string& host, std::function<void(Duration life)> what) {
    at_gone_[host] = std::move(what);
  }
  /// A host is gone, or stands still, and can't do what it owes.
  void away(const std::string& host, Instant until) { away_[host] = until; }

  /// For so long, an ACL forbids that places in the fleet are written, or that their end is told.
  /// Runs go on all the same.
  void places_unknown(const Server& server, Duration time) {
    places_unknown_[server.name()] = world_.now() + time;
  }

  /// When the end of a run last set an item free, by its lock.
  [[nodiscard]] Instant set_free(const Server& server, const std::string& lock) const {
    const auto found = set_free_.find(server.name() + ' ' + lock);
    return found == set_free_.end() ? Instant::min() : found->second;
  }

  [[nodiscard]] const std::optional<Broken>& broken() const { return broken_; }
  void break_promise(std::string promise, std::string why, std::vector<std::string> subjects);

  struct Count {
    std::uint64_t claims = 0;    ///< items
    std::uint64_t children = 0;  ///< that were born
    std::uint64_t lapses = 0;    ///< leases that ended under a run
    std::uint64_t overlaps = 0;  ///< that the contract allows
    std::uint64_t settled = 0;
  };
  [[nodiscard]] const Count& count() const { return count_; }
  /// When an item was claimed last.
  [[nodiscard]] Instant visited(const std::string& server, const std::string& list,
                                const std::string& item) {
    return visits_[key_of(server, list, item)];
  }
  /// Claims of a list's items, by "server list:lock:", as its locks begin.
  struct Turning {
    std::uint64_t claims = 0;
    Instant last{};
  };
  [[nodiscard]] const Turning& turning(const std::string& list) { return turning_[list]; }
  [[nodiscard]] std::size_t living() const { return living_.size(); }
  /// Runs whose ends hosts have told since the beginning, by host.
  [[nodiscard]] std::uint64_t runs_of(const std::string& host) { return runs_of_[host]; }
  /// Claims of all hosts at a server, those in vain among them.
  [[nodiscard]] std::uint64_t claims_made(const std::string& server) {
    return claims_made_[server];
  }
  [[nodiscard]] std::uint64_t claims_won(const std::string& server) { return claims_won_[server]; }
  void add(std::unique_ptr<KindWatch> watch) { watches_.push_back(std::move(watch)); }
  [[nodiscard]] const std::vector<std::unique_ptr<KindWatch>>& watches() const { return watches_; }

  // What is seen of any kind of work: a lease is a key that holds a value.
  struct ClaimSeen {
    std::string who;
    std::string list;
    std::string item;
    std::string run;
    std::string lock;   ///< the key
    std::string value;  ///< of it
    Duration life{0};
    std::int64_t fleet_limit = 0;  ///< 0: none
  };
  void claimed(Server& server, const ClaimSeen& claim);
  /// `again`: the lease was gone.
  void renewed(const std::string& run, Duration life, bool again);
  void ended(const std::string& run);
  /// By an operator, or by the rules of another client: others may have it from now on.
  void taken_away(const Server& server, const std::string& list, const std::string& item);
  [[nodiscard]] Instant now() const { return world_.now(); }
  void log(const std::string& who, const std::string& about, std::string text) {
    world_.log(who, about, std::move(text));
  }

  /// After the last host has left: nothing is left of it. `used`: until then, hosts were there.
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
    std::string item;  ///< in brief
    std::string lock;  ///< empty: it is settled
    std::string lock_in_brief;
    std::string value;
    Instant claimed{};
    std::uint64_t number = 0;   ///< of claims, in the order in which the server made them
    std::size_t limit = 0;      ///< of such places, by the config of its host
    std::uint64_t retaken = 0;  ///< the same, of a renewal that has taken the lock once more
    Duration life{0};           ///< of its lock
    Instant lease_ends{};       ///< as the server has it
    Instant born{};             ///< its child
    bool alive = false;
    bool terminates = false;  ///< on_lease_loss
    bool lost_by_store = false;
    bool settled = false;
  };
  struct Rest {
    Instant until;
    Instant claimed;  ///< the run after which it rests
    std::string host;
    std::string run;
  };

  static std::string key_of(const std::string& server, const std::string& list,
                            const std::string& item) {
    return server + ' ' + list + ' ' + brief(item);
  }
  /// The list of a settlement, by its history: "work:runs".
  static std::string list_key_of_settle(const Words& keys) {
    return keys[2].substr(0, keys[2].size() - 4) + "list";
  }
  static std::string lock_of(const Run& run) { return run.server + ' ' + run.lock_in_brief; }
  [[nodiscard]] bool is_away(const std::string& host, Instant since) const;
  [[nodiscard]] bool stood_still(const Run& run) const;
  [[nodiscard]] bool may_overlap(const Run& other, const Run& run) const;
  template <typename Told>
  bool is_of_watch(Told told) {
    return std::any_of(watches_.begin(), watches_.end(),
                       [&](const auto& watch) { return told(*watch); });
  }
  void after_operator(Server& server, const Server::Command& command);
  void check_rest(const Run& run);
  void check_size(const Server::Command& command);
  void check_fleet(const Run& run);
  void after_claim(Server& server, const Server::Command& command, const Value& reply);
  void after_renew(const Server::Command& command, const Value& reply);
  void before_settle(Server& server, const Server::Command& command);
  void without_old_ends(Server& server, const Server::Command& command);
  void after_settle(Server& server, const Server::Command& command);
  static void over(Run& run);
  void lease_ends_at(Run& run, Instant at);
  void lease_over(const std::string& id, Server* server);
  void check_items(Server& server, const std::string& list, const std::string& who);
  static std::uint64_t sum_of(Server& server, const std::string& list);

  World& world_;
  std::vector<std::unique_ptr<KindWatch>> watches_;
  std::optional<Broken> broken_;
  std::map<RunId, Run> runs_;
  std::map<std::string, std::set<std::string>> living_;  ///< children, by item
  std::map<std::string, std::set<std::string>>
      places_;                              ///< runs with a place in the fleet, by list
  std::map<std::string, Run*> last_claim_;  ///< by lock
  std::map<std::string, Rest> rests_;       ///< by lock
  std::map<std::string, Instant> visits_;
  std::map<std::string, Turning> turning_;
  std::map<std::string, std::uint64_t> items_;    ///< a sum over each list's, by server and key
  std::map<std::string, std::uint64_t> changes_;  ///< by server and list
  std::map<std::string, Instant> error_until_;
  std::map<std::string, Instant> away_;
  std::map<std::string, Instant> places_unknown_;  ///< until then, by server
  std::map<std::string, std::function<void()>> at_claims_;
  std::map<std::string, std::function<void(Duration life)>> at_claim_;
  std::map<std::string, std::function<void(Duration life)>> at_gone_;
  std::map<std::string, Instant> freed_;
  std::map<std::string, Instant> set_free_;
  std::map<std::string, std::uint64_t> runs_of_;
  std::map<std::string, Server*> servers_;
  std::uint64_t claims_ = 0;
  std::map<std::string, std::uint64_t> claims_made_;
  std::map<std::string, std::uint64_t> claims_won_;  ///< items
  std::uint64_t looks_ = 0;                          ///< at lists
  Count count_;
  struct ItemState {
    std::string lock;
    std::int64_t failures = 0;
    bool quarantined = false;
  };
  /// Of the items that a settlement is about, before it.
  struct Before {
    std::string run;
    std::string item;
    std::string list;
    std::string lock;
    bool old = false;
    ItemState was;
    ItemState due;  ///< after it, if its old ends change nothing
  };
  static ItemState state_of(Keys& keys, const Server::Command& command, const std::string& lock,
                            const std::string& item);
  std::vector<Before> before_;
};

}  // namespace w8y::sim
