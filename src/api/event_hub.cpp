#include "api/event_hub.hpp"

#include <algorithm>
#include <utility>

#include "api/api_json.hpp"
#include "core/number.hpp"
#include "loop/loop.hpp"

namespace w8y::api {

namespace {

/// Maximum number of subscribers. Each takes one connection of the server; the other connections
/// are for other requests.
constexpr std::size_t max_subscribers = 16;
constexpr Duration heartbeat_interval = std::chrono::seconds(15);
constexpr const char* last_words = ": closed: the client reads too slowly\n\n";

template <typename Kind>
std::optional<std::string> prefix_of(const Kind& event) {
  if constexpr (requires { event.of; }) {
    return std::string(event.of.prefix);
  } else if constexpr (requires { event.prefix; }) {
    return std::string(event.prefix);
  } else {
    return std::nullopt;
  }
}

template <typename Kind>
std::optional<std::string> run_of_event(const Kind& event) {
  if constexpr (requires { event.of.run; }) {
    return std::string(event.of.run);
  } else if constexpr (requires { event.run; }) {
    return std::string(event.run);
  } else {
    return std::nullopt;
  }
}

}  // namespace

EventHub::EventHub(loop::Loop& loop, std::string name, Duration timeout)
    : loop_(loop),
      name_(std::move(name)),
      timeout_(timeout),
      beat_(loop.timers()),
      pool_(max_subscribers) {}

EventHub::About EventHub::about(const Event& event) {
  return std::visit(
      [](const auto& kind) {
        return About{prefix_of(kind), run_of_event(kind)};
      },
      event);
}

bool EventHub::fits(const EventFilter& filter, const About& about) {
  if (!about.prefix && !about.run) return true;
  if (filter.prefix && about.prefix && *filter.prefix != *about.prefix) return false;
  return !filter.run || filter.run == about.run;
}

void EventHub::on_event(const Event& event) {
  const char* name = listens() ? event_name(event) : nullptr;
  if (name == nullptr) return;
  Kept told{++sequence_, about(event), {}};
  told.text = "event: " + std::string(name) + "\n" + id_line(told.number) +
              "data: " + to_json(event, loop_.clock().wall()) + "\n\n";
  std::erase_if(subscribers_, [&](const Subscriber& subscriber) {
    return fits(subscriber.filter, told.about) && !subscriber.stream->push(told.text);
  });
  keep(std::move(told));
}

std::string EventHub::id_line(std::uint64_t number) const {
  return "id: " + name_ + "." + std::to_string(number) + "\n";
}

/// Returns the number in an event ID; nullopt if the ID is invalid or comes from another w8yd.
std::optional<std::uint64_t> EventHub::number_of(std::string_view id) const {
  if (!id.starts_with(name_ + ".")) return std::nullopt;
  id.remove_prefix(name_.size() + 1);
  const auto number = read_integer(id, {});
  return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

// ---- earlier events

void EventHub::keep(Kept&& event) {
  kept_bytes_ += event.text.size();
  kept_.push_back(std::move(event));
  while (kept_bytes_ > max_kept) {
    kept_bytes_ -= kept_.front().text.size();
    gone_ = kept_.front().number;
    kept_.pop_front();
  }
}

/// Drops all kept events. Later events get no numbers, so that one number is skipped: no client can
/// have received it.
void EventHub::forget() {
  keeps_ = false;
  gone_ = ++sequence_;
  kept_ = {};
  kept_bytes_ = 0;
}

void EventHub::catch_up(http::HttpStream& stream, const EventFilter& filter,
                        std::string_view last) {
  const auto seen = number_of(last);
  if (!seen || *seen < gone_ || *seen > sequence_) {
    stream.push("event: reset\n" + id_line(sequence_) + "data: {\"type\":\"reset\",\"time_ms\":" +
                std::to_string(loop_.clock().wall().count()) + "}\n\n");
    return;
  }
  for (const Kept& event : kept_)
    if (event.number > *seen && fits(filter, event.about)) stream.push(event.text);
}

void EventHub::subscribe(http::HttpReply& reply, EventFilter filter, std::string_view last) {
  if (!pool_.fits(reply.trusted())) {
    reply.send(
        http::error_response(503, "too many event streams are open; close one, or retry later"));
    return;
  }
  auto stream = reply.stream("text/event-stream", last_words);
  // So that the client receives the header fields at once, and can reconnect before the first
  // event.
  stream->push(": w8y events\n" + (last.empty() ? id_line(sequence_) : std::string()) + "\n");
  if (!last.empty()) catch_up(*stream, filter, last);
  subscribers_.push_back({std::move(stream), std::move(filter), pool_.hold(reply.trusted())});
  keeps_ = true;
  needed_ = loop_.now();
  if (!beat_.pending()) arm();
}

void EventHub::arm() {
  beat_.set(loop_.now() + std::min(heartbeat_interval, timeout_), [this] { heartbeat(); });
}

void EventHub::heartbeat() {
  std::erase_if(subscribers_,
                [](const Subscriber& subscriber) { return !subscriber.stream->push(":\n\n"); });
  const Instant now = loop_.now();
  if (!subscribers_.empty()) needed_ = now;
  if (now - needed_ >= timeout_) return forget();
  arm();
}

}  // namespace w8y::api
