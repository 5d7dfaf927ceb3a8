#include "store/fleet/membership.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "loop/loop.hpp"
#include "redis/command.hpp"

namespace w8y::store {

namespace {

/// Maximum number of fields in one command, and in one heartbeat.
constexpr std::size_t changes_at_once = 256;
constexpr std::size_t fields_of_heartbeat = 1024;
/// Interval, in heartbeats, at which the host reads the Redis clock, removes old hosts, and reports
/// changes that runs made to lists.
constexpr std::size_t tidy_every = 3;
/// Interval, in heartbeats, at which the life of the list reports is extended. A list report
/// expires after six heartbeat intervals.
constexpr std::size_t prolong_every = 2;
/// Number of oldest hosts that a heartbeat examines.
constexpr std::size_t oldest_looked_at = 100;
/// Life of the key of a minute: queries cover one hour, and one minute later the key is reused.
constexpr Duration minute_life = std::chrono::minutes(60);
/// Maximum time for Redis to confirm that this host was removed.
constexpr Duration leave_timeout = std::chrono::seconds(1);

redis::ClientOptions named(redis::ClientOptions options) {
  if (!options.name.empty()) options.name += "-fleet";
  return options;
}

}  // namespace

FleetMembership::FleetMembership(loop::Loop& loop, const redis::ClientOptions& options,
                                 const std::string& fleet, std::string id, Handler& handler)
    : detail::FleetClientOwner{redis::Client(loop, named(options))},
      redis::Client::Listener(owned_client),
      loop_(loop),
      keys_(fleet),
      id_(std::move(id)),
      handler_(handler),
      next_(loop.timers()),
      leave_(loop.timers()) {}

FleetMembership::~FleetMembership() = default;

void FleetMembership::on_up() {
  heartbeats_ = 0;
  time_.forget();
  times_.connected(loop_.now());
  // The reports may be on another server, or have expired.
  told_lists_ = false;
  handler_.republish();
  arm();
}

void FleetMembership::on_down(const std::string&) {
  times_.disconnected();
  missing_ = 0;
  arm();
}

void FleetMembership::heartbeat_soon() {
  times_.on_request(loop_.now());
  arm();
}

void FleetMembership::arm() {
  const auto due = leaving_ ? std::nullopt : times_.due();
  if (!due) return next_.cancel();
  next_.set(*due, [this] { begin(); });
}

void FleetMembership::begin() {
  times_.started(loop_.now());
  refused_.clear();
  if (heartbeats_++ % tidy_every != 0) return send();
  tidy();
}

/// Reads the oldest hosts and the time. The command with the key is first: in a cluster, TIME then
/// goes to the same node.
void FleetMembership::tidy() {
  call({"ZRANGE", keys_.hosts, "0", std::to_string(oldest_looked_at - 1), "WITHSCORES"},
       [this](const redis::Answer& answer) { look_at_oldest(answer); });
  call({"TIME"},
       [this, asked = loop_.now()](const redis::Answer& answer) { note_time(answer, asked); });
}

void FleetMembership::look_at_oldest(const redis::Answer& answer) {
  oldest_.clear();
  for (std::size_t i = 0; i + 1 < answer.reply.size(); i += 2) {
    const std::string_view score = answer.reply[i + 1].text();
    oldest_.emplace_back(answer.reply[i].text(), read_real(score).value_or(0));
  }
}

/// Reports the number of hosts. `gone`: how many of the oldest hosts have stopped their heartbeats.
/// If all of them have, the total is unknown.
void FleetMembership::count_hosts(std::size_t gone) {
  if (oldest_.size() < oldest_looked_at) return handler_.on_counted(oldest_.size() - gone);
  if (gone == oldest_.size()) return;
  call({"ZCARD", keys_.hosts}, [this, gone](const redis::Answer& count) {
    if (leaving_ || !count.ok()) return;
    const auto all = static_cast<std::size_t>(count.reply.integer());
    handler_.on_counted(all - std::min(gone, all));
  });
}

void FleetMembership::note_time(const redis::Answer& answer, Instant asked) {
  // A report that is sent now would arrive after its removal.
  if (leaving_ || !answer.ok() || answer.reply.size() != 2) return;
  time_.record(redis::server_time(answer.reply), asked, loop_.now());
  const auto last = static_cast<double>(
      (time_.at(loop_.now()) - std::chrono::duration_cast<WallTime>(heartbeat_life)).count());
  redis::Command forget{"ZREM", keys_.hosts};
  for (const auto& [id, score] : oldest_)
    if (score < last && id != id_) forget.push_back(id);
  count_hosts(forget.size() - 2);
  if (forget.size() > 2) call(forget);
  send();
}

void FleetMembership::send() {
  send_lists();
  HostHeartbeat heartbeat = handler_.heartbeat(time_);
  heartbeat.lists_version = version_;
  const std::string now = std::to_string(time_.at(loop_.now()).count());
  call({"ZADD", keys_.hosts, now, id_});
  const std::string text = to_text(heartbeat);
  call({"SET", keys_.host(id_), text, "PX", ms_of(heartbeat_life)});
  for (const Handler::Minute& minute : handler_.minutes(time_))
    call({"SET", keys_.minute(id_, minute.minute), minute.text, "PX", ms_of(minute_life)});
  if (!told_lists_ || heartbeats_ % prolong_every == 0) return;
  call({"PEXPIRE", keys_.lists(id_), ms_of(heartbeat_life)}, [this](const redis::Answer& answer) {
    if (!answer.ok() || answer.reply.integer() != 0) return;
    handler_.republish();  // another client has deleted it
    told_lists_ = false;
  });
}

void FleetMembership::send_lists() {
  const bool lively = heartbeats_ % tidy_every == 1;
  const auto changes = handler_.changes(fields_of_heartbeat, lively);
  if (changes.empty()) return;
  ++version_;
  const std::string key = keys_.lists(id_);
  for (std::size_t first = 0; first < changes.size(); first += changes_at_once) {
    redis::Command set{"HSET", key};
    redis::Command remove{"HDEL", key};
    for (std::size_t i = first; i < std::min(changes.size(), first + changes_at_once); ++i) {
      const auto& [prefix, text] = changes[i];
      if (text.empty()) {
        remove.push_back(prefix);
      } else {
        set.insert(set.end(), {prefix, text});
      }
    }
    if (remove.size() > 2) call(remove);
    if (set.size() > 2) call(set);
  }
  if (!std::exchange(told_lists_, true)) call({"PEXPIRE", key, ms_of(heartbeat_life)});
  if (changes.size() == fields_of_heartbeat) times_.on_request(loop_.now());
}

void FleetMembership::call(const redis::Command& command,
                           std::function<void(const redis::Answer&)> look) {
  ++missing_;
  client().call(command, [this, alive = std::weak_ptr<bool>(alive_),
                          look = std::move(look)](const redis::Answer& answer) {
    if (alive.expired() || missing_ == 0) return;
    // An error of a server that refuses all commands is reported by the connection.
    if (answer.failure == redis::Failure::none && answer.reply.is_error() &&
        !redis::is_about_server(answer.error()) && refused_.empty())
      refused_ = answer.problem();
    if (look) look(answer);
    if (--missing_ == 0) answered();
  });
}

void FleetMembership::answered() {
  if (leaving_) return;
  times_.on_reply(!refused_.empty());
  handler_.on_heartbeat_sent(refused_);
  arm();
}

void FleetMembership::leave(std::function<void()> then) {
  leaving_ = true;
  next_.cancel();
  left_ = std::move(then);
  const bool there = client().connected();
  leave_.set(loop_.now() + (there ? leave_timeout : Duration{0}),
             [this] { std::exchange(left_, {})(); });
  if (!there) return;
  // All in one write; the reply to the last command arrives last.
  client().call({"DEL", keys_.lists(id_)});
  client().call({"DEL", keys_.host(id_)});
  client().call({"ZREM", keys_.hosts, id_},
                [this, alive = std::weak_ptr<bool>(alive_)](const redis::Answer&) {
                  if (!alive.expired())
                    leave_.set(loop_.now(), [this] { std::exchange(left_, {})(); });
                });
}

}  // namespace w8y::store
