// Event stream of the API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/events.hpp"
#include "core/timers.hpp"
#include "http/client_pool.hpp"
#include "http/http.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::api {

/// Events that a client requests. Events that concern no list are sent to all clients.
struct EventFilter {
  std::optional<std::string> prefix;  ///< only events of this list
  std::optional<std::string> run;     ///< only events of this run
};

/// Sends each event as a server-sent event. `event` is its name, `data` its JSON on one line, `id`
/// the name of this w8yd with an increasing number. A comment every 15 seconds detects clients that
/// have disconnected. A client that reads too slowly is dropped, with a comment that states the
/// reason. Events never wait for a client.
///
/// Keeps recent events while there are subscribers, and for one minute after. A client that
/// reconnects with the ID of its last event receives the events since. If some are no longer kept,
/// a `reset` event says so. Without subscribers, events cost nothing.
class EventHub : public EventHandler {
 public:
  /// Maximum number of bytes of kept events: half of the bytes that a slow reader may leave unread
  /// (http::HttpLimits::stream).
  static constexpr std::size_t max_kept = std::size_t{128} << 10;

  /// `name`: name of this w8yd, new at each start, of letters, digits, '-' and similar characters.
  /// `timeout`: time for which events are kept without subscribers.
  EventHub(loop::Loop& loop, std::string name, Duration timeout = std::chrono::minutes(1));

  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return !subscribers_.empty() || keeps_; }
  /// Adds a subscriber. `last`: ID of the last event that the client received; empty for a new
  /// client. Responds with 503 beyond the limit.
  void subscribe(http::HttpReply& reply, EventFilter filter, std::string_view last = {});
  [[nodiscard]] std::size_t subscribers() const { return subscribers_.size(); }

 private:
  struct Subscriber {
    std::shared_ptr<http::HttpStream> stream;
    EventFilter filter;
    http::ClientPool::Hold hold;
  };
  /// List and run of an event, for filters. An event that concerns no list has neither.
  struct About {
    std::optional<std::string> prefix;
    std::optional<std::string> run;
  };
  struct Kept {
    std::uint64_t number = 0;
    About about;
    std::string text;
  };
  static bool fits(const EventFilter& filter, const About& about);
  static About about(const Event& event);
  [[nodiscard]] std::string id_line(std::uint64_t number) const;
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view id) const;
  void keep(Kept&& event);
  void forget();
  void catch_up(http::HttpStream& stream, const EventFilter& filter, std::string_view last);
  void arm();
  void heartbeat();

  loop::Loop& loop_;
  const std::string name_;
  const Duration timeout_;
  Timer beat_;
  http::ClientPool pool_;
  std::vector<Subscriber> subscribers_;
  std::uint64_t sequence_ = 0;
  bool keeps_ = false;
  Instant needed_{};  ///< last time with a subscriber
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t gone_ = 0;  ///< events up to this number are not kept
};

}  // namespace w8y::api
