// Events to whoever listens to the API's event stream.
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

/// What a client wants to hear. Events that are about no list go to everybody.
struct EventFilter {
  std::optional<std::string> prefix;  ///< those of one list only
  std::optional<std::string> run;     ///< those of one run only
};

/// Sends each event as a server-sent event: `event` is its name, `data` its JSON on one line, `id`
/// who is asked and a number that grows. A comment now and then finds clients that are gone. A
/// client that doesn't keep up is dropped, with a comment that says so; events are never waited
/// for.
///
/// The last events are kept while somebody listens, and a little longer: who comes back with the id
/// of the last one that he has seen gets what came since, or is told by an event `reset` that some
/// of it is gone. While nobody listens, events cost nothing.
class EventHub : public EventHandler {
 public:
  /// Bytes that are kept: as much as a slow reader may owe (http::HttpLimits::stream), with room to
  /// spare.
  static constexpr std::size_t max_kept = std::size_t{128} << 10;

  /// `name`: of who is asked, new at each start. Letters, digits, '-' and the like. `timeout`: how
  /// long events are kept for nobody.
  EventHub(loop::Loop& loop, std::string name, Duration timeout = std::chrono::minutes(1));

  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return !subscribers_.empty() || keeps_; }
  /// `last`: the id of the last event that the client has seen; empty: it is new. 503 beyond the
  /// limit.
  void subscribe(http::HttpReply& reply, EventFilter filter, std::string_view last = {});
  [[nodiscard]] std::size_t subscribers() const { return subscribers_.size(); }

 private:
  struct Subscriber {
    std::shared_ptr<http::HttpStream> stream;
    EventFilter filter;
    http::ClientPool::Hold hold;
  };
  /// What a filter looks at. Events without a list have none.
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
  Instant needed_{};  ///< since then nobody has listened
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t gone_ = 0;  ///< events up to this number are not kept
};

}  // namespace w8y::api
