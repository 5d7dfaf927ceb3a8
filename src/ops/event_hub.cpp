#include "ops/event_hub.hpp"

#include <string_view>
#include <utility>

#include "loop/loop.hpp"
#include "ops/status_json.hpp"

namespace w8y::ops {

namespace {

/// Each takes one of the server's connections, and the others are for everybody else.
constexpr std::size_t max_subscribers = 16;
constexpr Duration beat_interval = std::chrono::seconds(15);
constexpr const char* last_words = ": dropped, this client reads too slowly\n\n";

struct PrefixOf {
  template <typename Kind>
  std::optional<std::string_view> operator()(const Kind& event) const {
    if constexpr (requires { event.of; }) {
      return event.of.prefix;
    } else if constexpr (requires { event.prefix; }) {
      return event.prefix;
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

EventHub::EventHub(loop::Loop& loop) : loop_(loop), beat_(loop.timers()) {}

void EventHub::on_event(const Event& event) {
  const char* name = subscribers_.empty() ? nullptr : event_name(event);
  if (name == nullptr) return;
  const std::string text = "event: " + std::string(name) + "\nid: " + std::to_string(++sequence_) +
                           "\ndata: " + dump(to_json(event, loop_.clock().wall())) + "\n\n";
  const auto prefix = std::visit(PrefixOf{}, event);
  std::erase_if(subscribers_, [&](const Subscriber& subscriber) {
    if (prefix && subscriber.prefix && *subscriber.prefix != *prefix) return false;
    return !subscriber.stream->push(text);
  });
}

void EventHub::subscribe(HttpReply& reply, std::optional<std::string> prefix) {
  if (subscribers_.size() >= max_subscribers) {
    reply.send(error_response(503, "too many clients listen to events"));
    return;
  }
  auto stream = reply.stream("text/event-stream", last_words);
  stream->push(": w8y events\n\n");  // so that the client sees its headers at once
  subscribers_.push_back({std::move(stream), std::move(prefix)});
  if (!beat_.pending()) beat_.set(loop_.now() + beat_interval, [this] { beat(); });
}

void EventHub::beat() {
  std::erase_if(subscribers_,
                [](const Subscriber& subscriber) { return !subscriber.stream->push(":\n\n"); });
  if (!subscribers_.empty()) beat_.set(loop_.now() + beat_interval, [this] { beat(); });
}

}  // namespace w8y::ops
