// Faults of a world. All are drawn from its seed before the world starts, so that each can be
// omitted.
#pragma once

#include <string>
#include <vector>

#include "core/clock.hpp"
#include "simulation/random.hpp"

namespace w8y::sim {

struct Fault {
  enum class Kind {
    // the network, between a host and a server
    slow_line,
    held_line,
    refused_line,
    broken_now,
    lost_request,
    lost_reply,
    half_reply,
    twice_answered,
    // a server
    restart,
    restart_that_loses,
    hang,
    read_only,
    full,
    move,
    forbidden,
    slow_server,
    // a host
    stall,
    death,
    date,
    // operators and users
    reload,
    quiet,
    pause,
    cancel,
    run_item,
    quarantine,
    release,
    add,
    remove,
    twice,
    empty_list,
    large,
    foreign,
    noise,
    last_of_lists = noise,
    // of worlds that have a schedule
    set_schedule,
    run_job,
    unset_job,
    halt,
    redbike,
    forbidden_step,
    pause_schedule,
    cancel_job,
    last_of_schedules = cancel_job,
    // of worlds that have a feed of jobs
    thoonk,
    change_job,
    pause_feed,
    forbidden_job_step,
    cancel_feed_job,
    last_of_feeds = cancel_feed_job,
    // of worlds whose connections break within a request, or after some replies
    cut_request,
    late_loss,
    // Faults without an effect. They are still drawn, so that each seed keeps its world.
    none,
    none_either,
    last_of_cuts = none_either,
    // of worlds in which Redis reports changes
    untold,
    user_adds,
    last_of_told = user_adds,
    // of worlds that have a Gearman list
    gearman_line,
    gearman_break,
    gearman_restart,
    gearman_hang,
    other_worker,
    many_jobs,
    client_leaves,
    change_gearman,
    pause_gearman,
    cancel_gearman,
    last_of_gearman = cancel_gearman,
    // of worlds whose hosts are cut off at the worst moments
    lapse,
    late_retake,
    last_of_lapses = late_retake,
    // of worlds with an operator's own queries of Redis
    query_items,
    query_more,
    change_items,
    operator_line,
    last_of_operators = operator_line,
    // of worlds in which hosts have no Redis
    change_redis,
    last_of_redisless = change_redis,
    // of worlds with an operator, and a schedule or a feed
    command_of_schedule,
    command_of_feed,
    last_of_commands = command_of_feed,
    // of worlds with fleet commands
    fleet_order,
    // of worlds with breakers
    upstream_outage,
    // of worlds in which items run again after their runs
    rerun,
    // of worlds in which other clients remove items
    removal,
    // of worlds with a feed in which jobs run again after their runs
    rerun_of_job,
    last = rerun_of_job,
  };
  Kind kind = Kind::slow_line;
  Duration at{0};  ///< since the start of the world
  Duration time{0};
  std::string host;
  std::string server;
  std::string list;
  std::uint64_t number = 0;  ///< random number for all other choices
};

[[nodiscard]] const char* name_of(Fault::Kind kind);
[[nodiscard]] std::string to_text(const Fault& fault);

/// Version of the generator of worlds. A seed in a test keeps the edition in which it was found.
enum class Edition : unsigned {
  first = 1,
  second = 2,
  third = 3,
  fourth = 4,
  fifth = 5,
  sixth = 6,
  newest = sixth
};

struct Scale {
  Edition edition = Edition::newest;
  unsigned hosts = 3;
  unsigned lists = 2;
  // Optional parts of a world.
  bool schedule = false;
  bool cuts = false;         ///< connections break within a request, or after some replies
  bool with_events = false;  ///< Redis reports changes of keys
  bool feed = false;         ///< a feed of jobs
  bool gearman = false;      ///< a Gearman list and two gearmands
  bool operators = false;    ///< operators query and change keys in Redis
  bool lapses = false;       ///< hosts are cut off right after a claim or the loss of a lock
  bool fleet = false;        ///< operators send fleet commands
  bool redisless = false;    ///< hosts have only Gearman lists, temporarily or always
  bool breakers = false;     ///< lists have a breaker, and all of their runs fail at times
  bool reruns = false;       ///< operators mark running items to run again
  bool removals = false;     ///< other clients remove items by all commands that can
  /// Duration of the world. Its last part, `calm`, has no faults.
  Duration time = std::chrono::minutes(3);

  static constexpr Duration calm = std::chrono::seconds(60);
};
/// Draws the size of a world.
[[nodiscard]] Scale draw_scale(Random random, Edition edition);
[[nodiscard]] std::vector<Fault> draw_faults(Random random, const Scale& scale);

}  // namespace w8y::sim
