// World of a seed: servers, hosts, users, faults, and the checks at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "simulation/faults.hpp"
#include "simulation/gearman_scenario.hpp"
#include "simulation/invariants.hpp"
#include "simulation/operator.hpp"
#include "simulation/settings.hpp"

namespace w8y::verbs {
struct QueryContext;
}

namespace w8y::sim {

struct SceneOptions {
  std::uint64_t seed = 1;
  Scale scale;
  std::vector<Fault> faults;  ///< as draw_faults() made them, or fewer
};

class Scenario {
 public:
  explicit Scenario(const SceneOptions& options);
  ~Scenario();
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  void run();

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const Invariants& promises() const { return promises_; }

 private:
  void populate();
  void lock_most(Server& at, const std::string& list, Random& random);
  void begin(const Fault& fault);
  void start_outage(const Fault& fault);
  void start_network(const Fault& fault);
  void start_rerun(const Fault& fault);
  void start_cut(const Fault& fault);
  void start_server(const Fault& fault);
  void start_host(const Fault& fault);
  void start_order(const Fault& fault);
  void start_change(const Fault& fault);

  // scenario_schedules.cpp
  void populate_schedule(Random random);
  void set_schedule(Server& at, const std::string& job, Random& random);
  void start_schedule(const Fault& fault);
  /// Forbids a Redis command to hosts and their scripts by ACL, for the time of the fault.
  void forbid_step(const Fault& fault, const std::string& step);
  void redbike_enqueues(Server& at, const std::string& job);
  void redbike_dispatches(Server& at);
  void redbike_works(Server& at, const Fault& fault);
  void redbike_ends(Server& at, const std::string& job, const std::string& tag);
  void check_others();

  // scenario_jobs.cpp
  void populate_feed(Random random);
  void put_jobs(Random random);
  void put_job(Server& at, Random& random);
  void put_again(const Fault& fault);
  void start_job(const Fault& fault);
  void thoonk_works(Server& at, const Fault& fault);
  void thoonk_ends(Server& at, const std::string& id, std::uint64_t dice);

  // scenario_network_partitions.cpp
  void start_lapse(const Fault& fault);
  void cut_off(const Fault& fault, Duration life);

  // scenario_operator.cpp
  void start_operator(const Fault& fault);
  void query_all_items(const Fault& fault);
  void with_query(redis::SyncClient& client, const std::string& server,
                  const std::function<void(verbs::QueryContext& query)>& look);
  void send_operator(const Fault& fault, Operator::Errand errand, std::function<void()> done = {});
  void break_operator(const Fault& fault);
  /// Checks that the current errand ends in time.
  void expect_end(std::uint64_t errand);

  // scenario_commands.cpp
  void start_command(const Fault& fault);
  void command(const std::string& at, const std::vector<std::string>& words,
               std::function<void(const CommandEnd& end)> told = {});
  void insist(const std::string& at, const std::vector<std::string>& words);
  void command_schedule(const Fault& fault);
  /// Lets an operator resume the schedule after the pause.
  void resume_schedule(const std::string& at, Duration pause);
  void command_feed(const Fault& fault);
  void operator_has(const Fault& fault, const std::string& id);

  // scenario_fleet.cpp
  void populate_fleet();
  void start_fleet(const Fault& fault);
  void order_fleet(const std::string& at, const std::vector<std::string>& words);
  [[nodiscard]] bool receives_commands(const Host& which, const std::string& at, Instant started);
  void obeyed(const std::string& order, const std::string& id, Instant started);
  void check_quiet(const Child& child);
  void resume_fleet(const std::string& at);
  void left_by_order(Host& which);
  void check_fleet();

  // scenario_redisless.cpp
  void populate_redisless(Random random);
  void start_redisless(const Fault& fault);
  [[nodiscard]] bool has_redis(const Host& host) const;

  // scenario_removals.cpp
  void start_removal(const Fault& fault);
  void put_back(Server& at, const std::string& list, const Words& words, Duration after);

  // scenario_tracking.cpp
  void start_told(const Fault& fault);
  /// Checks in the calm that an item that a user adds is claimed at once.
  void add_and_look(Random random);
  void check_added(Server& at, const std::string& list, const std::string& item, Instant since);
  [[nodiscard]] bool all_hear(const std::string& list);
  bool is_at_rest(Server& at, const std::string& list);

  void stall(Host& whose, Duration time);
  void foreign(const Fault& fault);
  void large_item(const Fault& fault);
  void move_all(const Fault& fault);
  void reload(Host& host, Random random);
  void change_config(Host& host, Random random);
  void watch_calm();
  void check(Duration since_calm);
  void query_list(const std::string& list);
  void query_items(Server& at, const std::string& list, const std::string& locks,
                   std::set<std::string> names, const std::string& who);
  [[nodiscard]] Duration time_for_pass(const List& items, const std::string& who) const;
  [[nodiscard]] Duration time_for_bytes(const List& items, const std::string& who) const;
  [[nodiscard]] Duration time_for_calls(std::size_t calls, const std::string& who) const;
  bool has_room(const Host& host, const ServedList& list);
  [[nodiscard]] Duration delay_by_breaker(Server& at, const std::string& list);
  Duration for_how_long(const std::string& what, bool is);
  void check_calls();
  bool check_host(const Host& which);
  void check_previous_server(const Host& which);
  void leave();

  Host& host(const std::string& name);
  Server& server(const std::string& name) { return name == "redis1" ? first_ : second_; }
  std::string item_of(Server& server, const std::string& list, std::uint64_t number);
  void user(Server& server, const std::string& list, const Words& words);
  void order(Server& server, const std::string& list, const redis::Script& script,
             const Fault& fault);

  const SceneOptions options_;
  World world_;
  Invariants promises_;
  Server first_;
  Server second_;
  Network network_;
  Children children_;
  Random jitter_;
  Settings settings_;
  std::map<std::string, Settings> settings_of_;  ///< by host
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<GearmanScene> gearman_;  ///< nullptr without a Gearman list
  std::unique_ptr<Operator> operator_;
  std::uint64_t errands_ = 0;
  // fleet commands
  std::map<std::string, std::string> ids_;  ///< of hosts, at the last fleet command
  struct Quiet {
    std::string id;
    Instant since{};
  };
  std::map<std::string, Quiet> quiet_;                 ///< hosts that have replied that they are
  std::map<std::string, Instant> directly_commanded_;  ///< time of a quiet or resume of one host
  std::map<std::string, Instant> refused_;  ///< end of the last restriction by ACL, by server
  std::set<std::string> drained_;           ///< host IDs
  Duration absence_{0};                     ///< until a drained host is started again
  bool redisless_always_ = false;           ///< no reload adds a Redis to hosts without one
  std::size_t left_ = 0;
  Duration put_pause_{0};  ///< between jobs that users put in the feed
  std::uint64_t jobs_put_ = 0;
  // in the calm
  std::map<std::string, Instant> since_;  ///< a condition has been true
  std::map<std::string, Instant> open_;   ///< breakers by server and list: last seen open
  struct Free {
    Instant at;
    std::uint64_t claims;  ///< of the list until then
  };
  std::map<std::string, std::map<std::string, Free>> free_;  ///< items, by server and lock prefix
  struct Window {
    std::uint64_t commands = 0;
    std::uint64_t runs = 0;
  };
  std::map<std::string, Window> windows_;
  struct Moved {
    std::string to;
    Instant at{};
    std::uint64_t tries = 0;  ///< to connect to other servers
  };
  std::map<std::string, Moved> moved_;  ///< by host
};

}  // namespace w8y::sim
