// Events to whoever listens to the API's event stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <w8y/events.hpp>
#include <w8y/timers.hpp>

#include "ops/http.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::ops {

/// Sends each event as a server-sent event: `event` is its name, `data` its JSON on one line, `id`
/// a number that grows. A comment now and then finds clients that are gone. A client that doesn't
/// keep up is dropped, with a comment that says so; events are never waited for.
class EventHub : public EventHandler {
 public:
  explicit EventHub(loop::Loop& loop);

  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return !subscribers_.empty(); }
  /// Events of one list only, if `prefix` is given (and those of no list). 503 beyond the limit.
  void subscribe(HttpReply& reply, std::optional<std::string> prefix);
  [[nodiscard]] std::size_t subscribers() const { return subscribers_.size(); }

 private:
  struct Subscriber {
    std::shared_ptr<HttpStream> stream;
    std::optional<std::string> prefix;
  };
  void beat();

  loop::Loop& loop_;
  Timer beat_;
  std::vector<Subscriber> subscribers_;
  std::uint64_t sequence_ = 0;
};

}  // namespace w8y::ops
