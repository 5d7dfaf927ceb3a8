// How lists stand, for this host and all others of its fleet: asked by one of them at a time, on a
// slow beat, and read by all.
//
// A host reads what was told, and hears what is told from then on. If some of its lists have grown
// old there, it takes the right to ask, asks about these, writes what it was told, and gives the
// right back. So any number of hosts cost little more than one does, whichever has which lists.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/query_runner.hpp"
#include "app/list_stats_cache.hpp"
#include "app/list_stats_reader.hpp"
#include "core/events.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "store/fleet/membership.hpp"
#include "store/fleet/reader.hpp"
#include "store/fleet/stats.hpp"

namespace w8y::app {

class FleetStatsCollector {
 public:
  struct Parts {
    loop::Loop& loop;
    const Supervisor& supervisor;
    EventHandler& events;
    ListStatsCache& known;
    api::QueryRunner& queries;
    std::shared_ptr<store::RedisSession> session;
    store::FleetMembership& member;
    store::FleetReader& reader;
    const bool& accepted;  ///< this host may use the fleet's keys
    bool cluster = false;
    std::uint64_t seed = 0;  ///< spreads hosts
  };
  FleetStatsCollector(Parts parts, const std::string& fleet);
  ~FleetStatsCollector();
  FleetStatsCollector(const FleetStatsCollector&) = delete;
  FleetStatsCollector& operator=(const FleetStatsCollector&) = delete;

 private:
  /// What is needed of a list's runs to tell how many places it needs.
  struct RunDurations {
    double seconds = 0;
    std::uint64_t count = 0;
    Duration mean{0};  ///< of the last ones
  };

  /// Lists of the config that are measured also before their first run here.
  struct Watched {
    bool visits = false;  ///< with overdue_after
    bool any = false;
  };

  /// Adds up the places that hosts have for lists: some hosts at a time.
  struct SlotCount {
    std::set<std::string> lists;  ///< that are counted
    std::vector<std::string> hosts;
    std::size_t counted = 0;                      ///< hosts
    std::map<std::string, std::uint64_t> places;  ///< by list
  };

  void check();
  [[nodiscard]] bool has_unknown_list() const;
  void handle_read(store::FleetStats::Fields&& fields, std::size_t commands);
  void handle_field(const std::string& name, const std::string& text, WallTime now);
  [[nodiscard]] const Watched& watches() const;
  void check_overdue();
  [[nodiscard]] std::vector<ListConfigPtr> active_lists() const;
  [[nodiscard]] bool is_due(const ListConfigPtr& rule, Duration before) const;
  [[nodiscard]] std::vector<ListConfigPtr> due(Duration before) const;
  [[nodiscard]] bool counts_due() const;
  void collect();
  void count_fleet();
  [[nodiscard]] std::set<std::string> watched_lists() const;
  void count_slots(std::shared_ptr<SlotCount> count);
  static void count_some_slots(verbs::QueryContext& query, SlotCount& count);
  void on_published(const std::string& name, const std::string& text);
  void write();
  void on_measured(const ListConfigPtr& rule, const std::optional<ListStats>& stats);
  void add_slots(const ListConfig& rule, ListStats& stats);
  void on_collected();
  void wait();
  [[nodiscard]] WallTime redis_now() const;

  const Parts parts_;
  store::FleetStats shared_;
  ListStatsReader measuring_;
  Timer next_;
  Duration spread_;             ///< after others
  Instant read_at_{};           ///< not before, again
  int commands_ = 1;            ///< that it took to read all
  bool was_collector_ = false;  ///< this host was the last to ask: it is the first again
  unsigned failed_locks_ = 0;   ///< times in a row that another had the right
  Instant prolonged_{};
  store::FleetStats::Fields unwritten_;
  std::map<std::string, Instant> refused_until_;  ///< lists that Redis does not tell of
  std::map<std::string, std::uint64_t> slots_;    ///< of lists with overdue_after, in the fleet
  Instant slots_counted_at_{};
  std::size_t slots_hosts_ = 0;  ///< hosts that were there then
  int slots_recounts_ = 1;       ///< looks at which they are counted in any case
  std::map<std::string, RunDurations> runs_;
  std::set<std::string> overdue_;    ///< lists that were told to be
  mutable unsigned generation_ = 0;  ///< of the config that this is of:
  mutable Watched watches_;
  bool reading_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
