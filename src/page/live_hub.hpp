// GET /api/v1/live: what the page shows, as it changes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/control.hpp"
#include "api/fleet_control.hpp"
#include "core/events.hpp"
#include "core/runs_per_minute.hpp"
#include "core/timers.hpp"
#include "http/client_pool.hpp"
#include "http/http.hpp"
#include "page/live_fleet.hpp"
#include "page/live_rows.hpp"

namespace w8y::page {

/// Server-sent events (w8y-api(7)). A client gets all there is in pieces that it keeps up with,
/// then changes, at most four times a second. All is looked at and made into text once, however
/// many clients there are; without one nothing is, but for the hour's figures, which are counted
/// always.
///
/// asleep: nobody looks. waking: all lists are looked at for the first time; clients wait. awake.
/// It falls asleep a little after its last client has gone, so that one that comes back at once
/// gets only what it has missed.
class LiveHub final : public EventHandler {
 public:
  /// `hour` is counted here, and read by others too. `fleet` calls nobody after this is gone.
  LiveHub(loop::Loop& loop, api::Control& control, api::FleetControl& fleet, RunsPerMinute& hour);

  // of EventHandler
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return state_ != State::idle; }

  /// `last_id`: of the last event that the client has seen; may be empty. 503 beyond the limit.
  void subscribe(http::HttpReply& reply, const std::string& last_id);

 private:
  enum class State { idle, starting, active };
  struct Client {
    std::shared_ptr<http::HttpStream> stream;
    bool started = false;
    std::size_t row = 0;  ///< of this host's lists, the next one to be sent
    LiveFleet::Cursor at;
    bool whole = false;  ///< all was sent: from now on, changes
    bool gone = false;
    http::ClientPool::Hold hold;
  };
  struct Told {
    std::uint64_t number = 0;
    std::string text;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  void wake();
  void sleep();
  void look_at(std::string_view prefix);
  void look_at_all(Duration after, bool ask_redis);
  void walk();
  void walked();
  void arm();
  void tick();
  void look_at_due();
  [[nodiscard]] std::string host_text() const;
  [[nodiscard]] std::string changes();
  void tell(const std::string& fields);
  void send_whole();
  void send_part(Client& client);
  bool resume(Client& client, const std::string& last_id);
  void push(Client& client, std::string_view text);
  void heartbeat();
  [[nodiscard]] std::string now_field() const;
  [[nodiscard]] std::string id_line(std::uint64_t number) const;
  [[nodiscard]] LiveRows::Addition minutes_of_lists(std::int64_t last) const;

  loop::Loop& loop_;
  api::Control& control_;
  LiveFleet fleet_;
  RunsPerMinute& hour_;
  State state_ = State::idle;
  http::ClientPool pool_;
  std::vector<Client> clients_;
  LiveRows rows_;
  std::string host_;  ///< as it was told
  bool host_due_ = false;
  WallTime redis_away_{0};    ///< since when; 0: it is there
  bool minutes_due_ = false;  ///< runs have ended since they were told
  std::unordered_set<std::string, Hash, std::equal_to<>> due_;  ///< prefixes to look at
  bool walking_ = false;
  bool ask_redis_ = false;
  std::deque<Told> told_;  ///< the last changes
  std::size_t told_bytes_ = 0;
  std::uint64_t number_ = 0;
  std::string tag_;  ///< of this start of w8yd, in each id
  Instant ticked_{};
  Instant deserted_{};  ///< since when there is no client
  Timer tick_;
  Timer walk_;
  Timer send_;
  Timer beat_;
  std::shared_ptr<bool> awake_;  ///< what was asked before a sleep is not taken after it
};

/// Adds GET /api/v1/live to `router`, which `live` outlives.
void add_live(http::Router& router, LiveHub& live);

}  // namespace w8y::page
