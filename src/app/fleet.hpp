// This host as a member of its fleet: publishes its state (w8y-keys(7)) and reads the state of
// other hosts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/control.hpp"
#include "api/fleet_control.hpp"
#include "api/query_runner.hpp"
#include "app/list_report_publisher.hpp"
#include "app/list_stats_cache.hpp"
#include "app/redis_connection.hpp"
#include "app/run_counts_publisher.hpp"
#include "core/subsystem.hpp"
#include "http/client_pool.hpp"
#include "store/fleet/membership.hpp"
#include "store/fleet/reader.hpp"
#include "view/fleet.hpp"

namespace w8y::app {

struct FleetHostParts {
  loop::Loop& loop;
  ops::LineLog& log;
  const RedisConnection& redis;
  const Supervisor& supervisor;
  api::Control& control;
  RunsPerMinute& hour;
  EventHandler& events;
  ListStatsCache& stats;
  api::QueryRunner& queries;
  std::function<void(std::size_t hosts)> counted;  ///< called with the number of hosts in the fleet
  std::string id;                                  ///< new at each start
  std::function<unsigned()> processors;            ///< processors that w8yd may use now
  /// HostMode::formats_compared()
  std::function<void(const std::optional<std::string>& conflict)> formats;
};

class Fleet final : public Subsystem,
                    public EventHandler,
                    public api::FleetControl,
                    private store::FleetMembership::Handler {
 public:
  explicit Fleet(const FleetHostParts& parts);
  ~Fleet() override;

  void start(const Config& config) override;
  void commit(const Config& wanted) override;
  void applied(const Config& config) override;
  void stop() override;
  /// Removes this host from the fleet after its drain. Calls `then` once, soon, from the loop.
  void leave(std::function<void()> then);

  // EventHandler
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override;
  // api::FleetControl
  void read(Seen then) override;
  void details(std::vector<view::HostWish> wishes, Detailed then) override;
  void lists(std::optional<std::string> list, Listed then) override;
  void send(FleetCommand order, Sent then) override;
  void follow(const std::string& run, http::HttpReplyPtr reply) override;
  void when_changed(std::function<void()> then) override { changed_ = std::move(then); }

 private:
  /// One Redis, and one fleet on it.
  struct Link;
  class LogStream;

  // store::FleetMembership::Handler
  HostHeartbeat heartbeat(const RedisClock& time) override;
  std::vector<ListReportTracker::Change> changes(std::size_t most, bool lively) override {
    return lists_.drain(most, lively);
  }
  std::vector<Minute> minutes(const RedisClock& time) override { return minutes_.drain(time); }
  std::vector<MinuteStats> stats() override;
  [[nodiscard]] WallTime wall() const override { return parts_.loop.clock().wall(); }
  void republish() override;
  void on_counted(std::size_t hosts) override;
  void on_heartbeat_sent(const std::string& refused) override;
  void on_stats_sent(const std::string& refused) override;

  void join(const Config& config);
  [[nodiscard]] bool is_current(const Link& link) const;
  void compare_soon();
  void compare_formats();
  void formats_compared(const FleetView& view);
  void sweep_logs();
  template <class Query, class Then>
  void run_query(Query query, Then then);

  const FleetHostParts parts_;
  const Instant started_;
  unsigned processors_;  ///< processors that w8yd may use; updated with each config
  std::string hash_;     ///< hash of the config in force, which was applied at applied_
  Instant applied_{};
  ListReportPublisher lists_;
  RunCountsPublisher minutes_;
  Instant stats_due_{};  ///< time from which the next statistics are sent
  bool leaving_ = false;
  std::unique_ptr<Link> link_;
  std::unique_ptr<Link> left_;           ///< link_ of a drained host, until it has left the fleet
  std::string fleet_;                    ///< of the config that is being applied or in force
  std::optional<std::string> conflict_;  ///< format_conflict(); nullopt: not compared yet
  Instant compare_at_{};                 ///< time of the next comparison of formats
  std::size_t hosts_ = 1;                ///< number of hosts at the last count
  Timer sweep_;
  http::ClientPool log_pool_;
  std::vector<std::unique_ptr<LogStream>> logs_;
  Timer logs_sweep_;
  std::function<void()> changed_;
};

}  // namespace w8y::app
