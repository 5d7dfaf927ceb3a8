// Statistics of lists for all hosts of a fleet, collected periodically by one host at a time.
//
// A host reads the published statistics and subscribes to new ones. If statistics of its lists are
// too old, the host acquires the collector's lock, collects and publishes these statistics, and
// releases the lock. Therefore many hosts cost Redis little more than one host does, even if they
// have different lists.
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
#include "core/runs_per_minute.hpp"
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
    RunsPerMinute& hour;
    api::QueryRunner& queries;
    std::shared_ptr<store::RedisSession> session;
    store::FleetMembership& member;
    store::FleetReader& reader;
    const bool& accepted;  ///< whether this host may use the keys of the fleet
    bool cluster = false;
    std::uint64_t seed = 0;  ///< for the random delay between hosts
  };
  FleetStatsCollector(Parts parts, const std::string& fleet);
  ~FleetStatsCollector();
  FleetStatsCollector(const FleetStatsCollector&) = delete;
  FleetStatsCollector& operator=(const FleetStatsCollector&) = delete;

 private:
  /// Durations of the runs of a list, from which the needed slots are computed.
  struct RunDurations {
    double seconds = 0;
    std::uint64_t count = 0;
    Duration mean{0};  ///< of the latest runs
  };

  /// Lists of the config whose statistics are collected even before their first run on this host.
  struct Watched {
    bool visits = false;  ///< whether any list has overdue_after
    bool any = false;
  };

  /// Sum of the slots that hosts have for lists, computed for some hosts at a time.
  struct SlotCount {
    std::set<std::string> lists;  ///< lists to count
    std::vector<std::string> hosts;
    std::size_t counted = 0;                      ///< number of counted hosts
    std::map<std::string, std::uint64_t> places;  ///< number of slots, by list
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
  Duration spread_;    ///< random delay, so that hosts do not collect at the same time
  Instant read_at_{};  ///< time of the next read
  int commands_ = 1;   ///< number of commands of the last read of all statistics
  /// Whether this host was the last collector; it then tries first again.
  bool was_collector_ = false;
  unsigned failed_locks_ = 0;  ///< consecutive attempts at which another host held the lock
  Instant prolonged_{};
  store::FleetStats::Fields unwritten_;
  std::map<std::string, Instant> refused_until_;  ///< lists whose statistics Redis refuses
  std::map<std::string, std::uint64_t> slots_;  ///< slots of the fleet, of lists with overdue_after
  Instant slots_counted_at_{};
  std::size_t slots_hosts_ = 0;  ///< number of hosts at that time
  int slots_recounts_ = 1;       ///< number of next collections that count slots in any case
  std::map<std::string, RunDurations> runs_;
  std::set<std::string> overdue_;    ///< lists that were reported as overdue
  mutable unsigned generation_ = 0;  ///< generation of the config from which watches_ was computed
  mutable Watched watches_;
  bool reading_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
