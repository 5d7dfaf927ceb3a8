#include "store/fleet/membership.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "loop/loop.hpp"
#include "redis/command.hpp"
#include "store/scripts.hpp"

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
/// Life of the key of a minute: queries cover one hour, and one minute later the key is reused.
constexpr Duration minute_life = std::chrono::minutes(60);
/// Life of the statistics over time after the last run of a list: a little longer than their span.
constexpr Duration series_life = std::chrono::hours(25);
/// Maximum time for Redis to confirm that this host was removed.
constexpr Duration leave_timeout = std::chrono::seconds(1);

redis::ClientOptions named(redis::ClientOptions options) {
  if (!options.name.empty()) options.name += "-fleet";
  return options;
}

/// Returns whether Redis refuses this command. An error of a server that refuses all commands is
/// reported by the connection.
bool is_refusal(const redis::Answer& answer) {
  return answer.failure == redis::Failure::none && answer.reply.is_error() &&
         !redis::is_about_server(answer.error());
}

}  // namespace

FleetMembership::FleetMembership(loop::Loop& loop, const redis::ClientOptions& options,
                                 const std::string& fleet, std::string id, Handler& handler)
    : detail::FleetClientOwner{redis::Client::open(loop, named(options))},
      redis::Client::Listener(*owned_client),
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
  stats_refused_.reset();
  if (heartbeats_++ % tidy_every != 0) return send();
  tidy();
}

/// Reads the number of hosts and the time. The command with the key is first: in a cluster, TIME
/// then goes to the same node.
void FleetMembership::tidy() {
  call({"ZCARD", keys_.hosts}, [this](const redis::Answer& answer) {
    if (answer.ok()) all_ = static_cast<std::size_t>(answer.reply.integer());
  });
  call({"TIME"},
       [this, asked = loop_.now()](const redis::Answer& answer) { note_time(answer, asked); });
}

/// Requests the hosts that have died, the last one first.
void FleetMembership::note_time(const redis::Answer& answer, Instant asked) {
  // A report that is sent now would arrive after its removal.
  if (leaving_ || !answer.ok() || answer.reply.size() != 2) return;
  time_.record(redis::server_time(answer.reply), asked, loop_.now());
  const WallTime last =
      time_.at(loop_.now()) - std::chrono::duration_cast<WallTime>(heartbeat_life);
  const std::string before = "(" + std::to_string(last.count());
  const std::string most = std::to_string(max_unresponsive + 1);
  call({"ZRANGE", keys_.hosts, before, "-inf", "BYSCORE", "REV", "LIMIT", "0", most, "WITHSCORES"},
       [this](const redis::Answer& dead) { on_dead_hosts(dead); });
}

/// Removes hosts that died long ago, or whose name this host has now, and sends the heartbeat.
void FleetMembership::on_dead_hosts(const redis::Answer& answer) {
  if (leaving_) return;
  if (answer.ok()) {
    const std::string name = name_in_host_id(id_);
    const WallTime kept =
        time_.at(loop_.now()) - std::chrono::duration_cast<WallTime>(unresponsive_life);
    const std::size_t dead = answer.reply.size() / 2;
    redis::Command forget{"ZREM", keys_.hosts};
    for (std::size_t i = 0; i < dead; ++i) {
      const std::string_view id = answer.reply[2 * i].text();
      const double score = read_real(answer.reply[2 * i + 1].text()).value_or(0);
      if (id != id_ && (i >= max_unresponsive || name_in_host_id(id) == name ||
                        score < static_cast<double>(kept.count())))
        forget.push_back(id);
    }
    if (forget.size() > 2) call(forget);
    // With more dead hosts than were read, the number of live hosts is not known.
    if (dead <= max_unresponsive) handler_.on_counted(all_ - std::min(dead, all_));
  }
  send();
}

void FleetMembership::send() {
  send_lists();
  HostHeartbeat heartbeat = handler_.heartbeat(time_);
  heartbeat.lists_version = version_;
  const std::string now = std::to_string(time_.at(loop_.now()).count());
  call({"ZADD", keys_.hosts, now, id_});
  send_stats();
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

/// Adds the statistics of recent minutes. If the reply is lost, they are not sent again, because
/// Redis may have added them.
void FleetMembership::send_stats() {
  const std::vector<MinuteStats> all = handler_.stats();
  const auto minute = std::chrono::floor<std::chrono::minutes>(handler_.wall()).count();
  const std::string life = ms_of(series_life);
  for (std::size_t first = 0; first < all.size();) {
    // The minutes of a list are adjacent.
    const std::string key = keys_.series(all[first].list);
    std::vector<std::string> texts;
    for (std::size_t i = first; i < all.size() && all[i].list == all[first].list; ++i) {
      const MinuteStats& each = all[i];
      texts.push_back(std::to_string(std::max<std::int64_t>(0, minute - each.count.minute)));
      texts.push_back(std::to_string(each.count.runs));
      texts.push_back(std::to_string(each.count.failed));
      texts.push_back(each.durations.text());
      texts.push_back(each.cycles.text());
    }
    first += texts.size() / 5;
    redis::Command args{life};
    args.insert(args.end(), texts.begin(), texts.end());
    add_stats(key, args);
  }
}

/// An error does not fail the heartbeat: a Redis user may have no permission for the statistics.
void FleetMembership::add_stats(const std::string& key, const redis::Command& args) {
  ++missing_;
  if (!stats_refused_) stats_refused_.emplace();
  client().run(scripts::series_add, {key}, args,
               [this, alive = std::weak_ptr<bool>(alive_)](const redis::Answer& answer) {
                 if (alive.expired() || missing_ == 0) return;
                 if (is_refusal(answer) && stats_refused_ && stats_refused_->empty())
                   stats_refused_ = answer.problem();
                 if (--missing_ == 0) answered();
               });
}

void FleetMembership::call(const redis::Command& command,
                           std::function<void(const redis::Answer&)> look) {
  ++missing_;
  client().call(command, counted(std::move(look)));
}

redis::Client::Callback FleetMembership::counted(std::function<void(const redis::Answer&)> look) {
  return [this, alive = std::weak_ptr<bool>(alive_),
          look = std::move(look)](const redis::Answer& answer) {
    if (alive.expired() || missing_ == 0) return;
    if (is_refusal(answer) && refused_.empty()) refused_ = answer.problem();
    if (look) look(answer);
    if (--missing_ == 0) answered();
  };
}

void FleetMembership::answered() {
  if (leaving_) return;
  times_.on_reply(!refused_.empty());
  handler_.on_heartbeat_sent(refused_);
  if (stats_refused_) handler_.on_stats_sent(*stats_refused_);
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
  send_stats();
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
