#include "page/live_hub.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/endpoints.hpp"
#include "core/json_object.hpp"
#include "core/number.hpp"
#include "loop/loop.hpp"
#include "page/page.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

namespace w8y::page {

namespace {

/// Maximum number of streams. Each uses a connection of its server. Clients without the token
/// may use half of the streams. Pages over TCP are among them, because a browser cannot send the
/// token with a stream.
constexpr std::size_t max_clients = 32;
/// Changes are sent this long after the first of them, but at least `pace` after the previous
/// changes.
constexpr Duration gathering = std::chrono::milliseconds(50);
constexpr Duration pace = std::chrono::milliseconds(250);
/// Lists that are read individually between two iterations over all lists, time of one step, and
/// bytes of one event.
constexpr std::size_t max_due = 2000;
constexpr Duration max_look = std::chrono::milliseconds(4);
constexpr std::size_t max_told = std::size_t{48} << 10;
/// Interval of iterations over all lists, since some changes cause no event.
constexpr Duration walk_interval = std::chrono::seconds(15);
constexpr Duration walk_gap = std::chrono::seconds(1);
/// Bytes of one part. A client with more than `max_owed` unread bytes receives the next part later;
/// `send_gap` is the time until the next check.
constexpr std::size_t piece = std::size_t{32} << 10;
constexpr std::size_t max_owed = std::size_t{128} << 10;
constexpr Duration send_gap = std::chrono::milliseconds(2);
/// Interval of heartbeats, by which a client notices a lost connection.
constexpr Duration heartbeat_every = std::chrono::seconds(5);
constexpr Duration linger = std::chrono::seconds(15);
/// Bytes of changes that are kept for clients that reconnect.
constexpr std::size_t max_kept = std::size_t{1} << 20;

constexpr const char* live_last_words = ": closed: the client reads too slowly\n\n";

/// Returns the name of the list that an event changes; nullptr for other events.
struct LiveList {
  std::string_view operator()(const RunLogged&) const { return {nullptr, 0}; }
  std::string_view operator()(const RunLineIgnored&) const { return {nullptr, 0}; }
  std::string_view operator()(const RunUpdated&) const { return {nullptr, 0}; }
  std::string_view operator()(const StreamProcessEvent&) const { return {nullptr, 0}; }
  template <typename Kind>
  std::string_view operator()(const Kind& event) const {
    if constexpr (requires { event.of.prefix; }) {
      return event.of.prefix;
    } else if constexpr (requires { event.prefix; }) {
      return event.prefix;
    } else {
      return {nullptr, 0};
    }
  }
};

bool has_failed(const Outcome& outcome) {
  return std::holds_alternative<Failed>(outcome) || std::holds_alternative<Crashed>(outcome) ||
         std::holds_alternative<TimedOut>(outcome);
}

/// Returns whether the event changes a state that all lists share.
bool is_about_host(const Event& event) {
  return std::holds_alternative<HostChanged>(event) || std::holds_alternative<HostReady>(event) ||
         std::holds_alternative<Reloaded>(event) || std::holds_alternative<RedisChanged>(event) ||
         std::holds_alternative<GearmanChanged>(event);
}

/// Returns whether the event changes list state that only Redis holds.
bool is_about_redis(const Event& event) {
  return std::holds_alternative<ListPaused>(event) ||
         std::holds_alternative<BreakerChanged>(event) ||
         std::holds_alternative<ItemQuarantined>(event);
}

void add_field(std::string& fields, const std::string& more) {
  if (more.empty()) return;
  fields.append(fields.empty() ? "" : ",").append(more);
}

std::string event_text(const char* name, const std::string& id, const std::string& fields) {
  return std::string("event: ") + name + "\n" + id + "data: {" + fields + "}\n\n";
}

}  // namespace

LiveHub::LiveHub(loop::Loop& loop, api::Control& control, api::FleetControl& fleet,
                 RunsPerMinute& hour)
    : loop_(loop),
      control_(control),
      fleet_(loop, fleet, [this] { arm(); }),
      hour_(hour),
      pool_(max_clients),
      tick_(loop.timers()),
      walk_(loop.timers()),
      send_(loop.timers()),
      beat_(loop.timers()) {
  fleet.when_changed([this] {
    if (state_ != State::idle) refresh_all(gathering, true);
  });
}

void LiveHub::on_event(const Event& event) {
  if (const auto* ended = std::get_if<RunEnded>(&event)) {
    hour_.add(ended->of.prefix, has_failed(ended->outcome), ended->duration, loop_.clock().wall());
    minutes_due_ = true;
  }
  if (const auto* redis = std::get_if<RedisChanged>(&event))
    redis_away_ = redis->connected ? WallTime{0} : loop_.clock().wall();
  if (state_ == State::idle) return;
  if (is_about_host(event)) {
    host_due_ = true;
    refresh_all(gathering, false);
    return arm();
  }
  if (is_about_redis(event)) refresh_all(walk_gap, true);
  const std::string_view prefix = std::visit(LiveList{}, event);
  if (prefix.data() != nullptr) record_list(prefix);
}

void LiveHub::record_list(std::string_view prefix) {
  if (due_.contains(prefix)) return;
  if (due_.size() >= max_due) return refresh_all(walk_gap, false);
  due_.emplace(prefix);
  arm();
}

// ---- idle and active

void LiveHub::wake() {
  state_ = State::starting;
  awake_ = std::make_shared<bool>(true);
  const std::string id = control_.status().host_id;
  tag_ = id.substr(id.rfind('-') + 1);
  fleet_.start(id);
  refresh_all(Duration{0}, false);
  beat_.set(loop_.now() + heartbeat_every, [this] { heartbeat(); });
}

void LiveHub::sleep() {
  state_ = State::idle;
  awake_.reset();
  fleet_.stop();
  for (Timer* timer : {&tick_, &walk_, &send_, &beat_}) timer->cancel();
  rows_ = LiveRows();
  host_.clear();
  due_.clear();
  sent_.clear();
  sent_bytes_ = 0;
  walking_ = query_redis_ = false;
}

// ---- reading lists

void LiveHub::refresh_all(Duration after, bool query_redis) {
  query_redis_ = query_redis_ || query_redis;
  if (walking_) return;  // walked() starts the next iteration, if one is due
  const Instant at = loop_.now() + after;
  if (walk_.pending() && walk_.deadline() <= at) return;
  walk_.set(at, [this] { walk(); });
}

void LiveHub::walk() {
  walking_ = true;
  const auto begin = [this, awake = std::weak_ptr<bool>(awake_)] {
    if (awake.expired()) return;
    rows_.start_iteration();
    control_.each_list(
        [this, awake](const ListStatus& list) {
          if (!awake.expired()) rows_.record(list.prefix, view::to_json(list, view::page));
        },
        [this, awake] {
          if (!awake.expired()) walked();
        });
  };
  if (std::exchange(query_redis_, false)) return control_.refresh(begin);
  begin();
}

void LiveHub::walked() {
  walking_ = false;
  rows_.end_look();
  host_due_ = true;
  const bool first = state_ == State::starting;
  if (first) rows_.drain_changes(static_cast<std::size_t>(-1), minutes_of_lists(0));
  state_ = State::active;
  // State that takes Redis longer follows the first snapshot.
  if (first || query_redis_)
    refresh_all(first ? gathering : walk_gap, true);
  else
    refresh_all(walk_interval, true);
  arm();
  send_whole();
}

void LiveHub::refresh_due() {
  const Instant until = loop_.now() + max_look;
  for (auto each = due_.begin(); each != due_.end() && loop_.now() < until;
       each = due_.erase(each)) {
    if (const auto list = control_.list(*each)) {
      rows_.record(*each, view::to_json(*list, view::page));
    } else {
      rows_.forget(*each);
    }
  }
}

// ---- changes

void LiveHub::arm() {
  if (state_ != State::active || tick_.pending()) return;
  tick_.set(std::max(loop_.now() + gathering, ticked_ + pace), [this] { tick(); });
}

void LiveHub::tick() {
  ticked_ = loop_.now();
  refresh_due();
  const std::string fields = changes();
  if (!fields.empty()) send_event(fields);
  if (!due_.empty() || rows_.changed() || fleet_.changed()) arm();
}

/// Returns the JSON of this host, without the fields that change all the time.
std::string LiveHub::host_text() const {
  HostStatus host = control_.status();
  if (!host.redis.connected && redis_away_.count() > 0) host.redis.away_since = redis_away_;
  core::AsciiObject json(512);
  view::put_host(json, host, view::host_page);
  return json.finish();
}

std::string LiveHub::changes() {
  std::string fields;
  if (std::exchange(host_due_, false)) {
    std::string host = host_text();
    if (host != host_) add_field(fields, "\"host\":" + host);
    host_ = std::move(host);
  }
  if (std::exchange(minutes_due_, false))
    add_field(fields, "\"minutes\":" + to_json_text(hour_.total(loop_.clock().wall(), 2)));
  add_field(fields, rows_.drain_changes(max_told, minutes_of_lists(2)));
  add_field(fields, fleet_.drain_changes(max_told));
  return fields;
}

LiveRows::Addition LiveHub::minutes_of_lists(std::int64_t last) const {
  return [this, last, now = loop_.clock().wall()](const std::string& prefix) {
    const auto minutes = hour_.of(prefix, now, last);
    return minutes.empty() ? std::string() : ",\"minutes\":" + to_json_text(minutes);
  };
}

std::string LiveHub::now_field() const {
  return "\"now_ms\":" + std::to_string(loop_.clock().wall().count());
}

std::string LiveHub::id_line(std::uint64_t number) const {
  return "id: " + tag_ + "-" + std::to_string(number) + "\n";
}

void LiveHub::send_event(const std::string& fields) {
  ++number_;
  std::string text = event_text("change", id_line(number_), now_field() + "," + fields);
  for (Client& client : clients_)
    if (client.started) push(client, text);
  sent_bytes_ += text.size();
  sent_.push_back({number_, std::move(text)});
  while (sent_bytes_ > max_kept) {
    sent_bytes_ -= sent_.front().text.size();
    sent_.pop_front();
  }
}

// ---- clients

void LiveHub::subscribe(http::HttpReply& reply, const std::string& last_id) {
  std::erase_if(clients_, [](const Client& client) { return client.gone; });
  if (!pool_.fits(reply.trusted()))
    return reply.send(
        http::error_response(503, "too many pages of this host are open; close one of them"));
  Client client;
  client.hold = pool_.hold(reply.trusted());
  client.trusted = reply.trusted();
  client.stream = reply.stream("text/event-stream", live_last_words);
  push(client, "retry: 1000\n\n");  // so that the client receives the header fields at once
  if (state_ == State::idle) wake();
  resume(client, last_id);
  clients_.push_back(std::move(client));
  send_whole();
}

/// Sends the changes that the client missed. If they are no longer kept, the client receives the
/// complete state.
void LiveHub::resume(Client& client, const std::string& last_id) {
  const std::string before = tag_ + "-";
  if (state_ != State::active || !last_id.starts_with(before)) return;
  const auto number = read_integer(std::string_view(last_id).substr(before.size()), {});
  if (!number || static_cast<std::uint64_t>(*number) > number_) return;
  const auto seen = static_cast<std::uint64_t>(*number);
  if (seen < number_ && (sent_.empty() || sent_.front().number > seen + 1)) return;
  std::string missed;
  for (const Told& told : sent_)
    if (told.number > seen) missed += told.text;
  if (missed.size() > max_owed) return;
  missed += event_text("heartbeat", {}, now_field());
  if (!client.stream->push(missed)) client.gone = true;
  client.started = client.whole = true;
}

/// Sends the next parts to all clients that do not have the complete state. They receive changes
/// meanwhile, too: a later part is at least as new as an earlier change.
void LiveHub::send_whole() {
  if (state_ != State::active) return;
  bool more = false;
  for (Client& client : clients_) {
    while (!client.whole && !client.gone && client.stream->owed() < max_owed) send_part(client);
    more = more || (!client.whole && !client.gone);
  }
  if (more) send_.set(loop_.now() + send_gap, [this] { send_whole(); });
}

void LiveHub::send_part(Client& client) {
  if (!std::exchange(client.started, true)) {
    std::string fields = now_field() + ",\"page\":\"" + std::string(page_mark) + "\"";
    const std::string may = client.trusted ? "yes" : control_.has_token() ? "token" : "no";
    add_field(fields, "\"commands\":\"" + may + "\"");
    add_field(fields, "\"host\":" + host_text());
    add_field(fields, "\"minutes\":" + to_json_text(hour_.total(loop_.clock().wall())));
    add_field(fields, fleet_.hosts());
    return push(client, event_text("snapshot", {}, fields));
  }
  std::string part = rows_.part(client.row, piece, minutes_of_lists(RunsPerMinute::length));
  if (!part.empty()) return push(client, event_text("part", {}, "\"lists\":[" + part + "]"));
  part = fleet_.part(client.at, piece);
  if (!part.empty()) return push(client, event_text("part", {}, part));
  push(client, event_text("ready", id_line(number_), now_field()));
  client.whole = true;
}

void LiveHub::push(Client& client, std::string_view text) {
  if (!client.stream->push(text)) client.gone = true;
}

void LiveHub::heartbeat() {
  host_due_ = true;  // the lease margins may have changed
  const std::string text = event_text("heartbeat", {}, now_field());
  for (Client& client : clients_) push(client, text);
  std::erase_if(clients_, [](const Client& client) { return client.gone; });
  if (!clients_.empty()) {
    deserted_ = loop_.now();
    arm();
  } else if (loop_.now() - deserted_ > linger) {
    return sleep();
  }
  beat_.set(loop_.now() + heartbeat_every, [this] { heartbeat(); });
}

void add_live(http::Router& router, LiveHub& live) {
  router.on(api::endpoints::live,
            [&live](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              // A page that opens a new stream sends ?after=, because it cannot set Last-Event-ID.
              const std::string& last = request.last_event_id;
              live.subscribe(*reply, last.empty() ? request.parameter("after").value_or("") : last);
            });
}

}  // namespace w8y::page
