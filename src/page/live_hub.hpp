// GET /api/v1/live: the state that the page shows, with its changes.
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

/// Stream of server-sent events (w8y-api(7)). A client first receives the complete state in parts,
/// at the rate at which it reads, and then changes, at most four times per second. The state is
/// read and encoded once, however many clients there are. Without clients only the runs of the last
/// hour are counted.
///
/// States:
/// - idle: there are no clients.
/// - starting: the first iteration over all lists is in progress; clients wait.
/// - active: clients receive the state and its changes.
///
/// The hub becomes idle 15 seconds after the last client has disconnected, so that a client that
/// reconnects receives only the changes that it missed.
class LiveHub final : public EventHandler {
 public:
  /// `hour` is written here and read by others. `fleet` must not call callbacks after this object
  /// is destroyed.
  LiveHub(loop::Loop& loop, api::Control& control, api::FleetControl& fleet, RunsPerMinute& hour);

  // EventHandler
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return state_ != State::idle; }

  /// Adds a client. `last_id`: ID of the last event that the client received; may be empty.
  /// Responds with 503 beyond the limit.
  void subscribe(http::HttpReply& reply, const std::string& last_id);

 private:
  enum class State { idle, starting, active };
  struct Client {
    std::shared_ptr<http::HttpStream> stream;
    bool started = false;
    std::size_t row = 0;  ///< next row of this host's lists to send
    LiveFleet::Cursor at;
    bool whole = false;  ///< the complete state was sent; the client now receives only changes
    bool gone = false;
    http::ClientPool::Hold hold;
    bool trusted = false;
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
  void record_list(std::string_view prefix);
  void refresh_all(Duration after, bool query_redis);
  void walk();
  void walked();
  void arm();
  void tick();
  void refresh_due();
  [[nodiscard]] std::string host_text() const;
  [[nodiscard]] std::string changes();
  void send_event(const std::string& fields);
  void send_whole();
  void send_part(Client& client);
  void resume(Client& client, const std::string& last_id);
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
  std::string host_;  ///< JSON of this host as last sent
  bool host_due_ = false;
  WallTime redis_away_{0};    ///< start of the outage of Redis; 0 = Redis is available
  bool minutes_due_ = false;  ///< whether runs have ended since the minutes were sent
  std::unordered_set<std::string, Hash, std::equal_to<>> due_;  ///< prefixes of the lists to read
  bool walking_ = false;
  bool query_redis_ = false;
  std::deque<Told> sent_;  ///< most recent changes
  std::size_t sent_bytes_ = 0;
  std::uint64_t number_ = 0;
  std::string tag_;  ///< of this start of w8yd; part of each event ID
  Instant ticked_{};
  Instant deserted_{};  ///< time at which the last client disconnected
  Timer tick_;
  Timer walk_;
  Timer send_;
  Timer beat_;
  /// Expires when the hub becomes idle, so that callbacks from before are ignored.
  std::shared_ptr<bool> awake_;
};

/// Adds GET /api/v1/live to `router`. `live` must outlive `router`.
void add_live(http::Router& router, LiveHub& live);

}  // namespace w8y::page
