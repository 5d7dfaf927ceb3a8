#include "app/fleet.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "api/parameters.hpp"
#include "app/fleet_command_handler.hpp"
#include "app/fleet_stats_collector.hpp"
#include "app/mark_recorder.hpp"
#include "core/config.hpp"
#include "operator/fleet.hpp"
#include "page/live_fleet.hpp"
#include "redis/random_number.hpp"
#include "redis/url.hpp"
#include "store/fleet/commands.hpp"
#include "store/fleet/log_follower.hpp"
#include "view/problems.hpp"

namespace w8y::app {

namespace {

/// Maximum number of streams. Each takes one connection of the server; the other connections are
/// for other requests.
constexpr std::size_t max_log_streams = 16;

/// A comparison of formats reads the heartbeats of all hosts. Each host causes at most one such
/// read per second, and ten per second while it waits for another host to stop.
constexpr Duration compare_interval = std::chrono::minutes(1);
constexpr Duration compare_cost = std::chrono::seconds(1);
constexpr Duration conflict_cost = std::chrono::milliseconds(100);

/// Minimum time between two parts of the statistics over time; maximum number of lists in a part.
constexpr Duration stats_interval = std::chrono::seconds(5);
constexpr std::size_t max_stats_lists = 500;

/// Timeout of a query for the lists of other hosts.
constexpr Duration lists_timeout = std::chrono::seconds(3);

std::optional<WallTime> in_ms(const std::optional<Duration>& time) {
  if (!time) return std::nullopt;
  return std::chrono::duration_cast<WallTime>(*time);
}

}  // namespace

struct Fleet::Link {
  Link(const FleetHostParts& parts, const std::string& of, const std::string& id,
       store::FleetMembership::Handler& handler)
      : session(parts.redis.session()),
        fleet(of),
        member(parts.loop, parts.redis.options(), of, id, handler),
        reader(parts.loop, member.client(), of),
        commands(parts.loop, member.client(), session->subscriber, reader, of,
                 redis::random_number()),
        marks({parts.loop, parts.supervisor, session, member, parts.redis.host(), W8Y_VERSION}, of),
        stats({parts.loop, parts.supervisor, parts.events, parts.stats, parts.hour, parts.queries,
               session, member, reader, accepted,
               parts.redis.options().url.kind == redis::Url::Kind::cluster, redis::random_number()},
              of) {}

  std::shared_ptr<store::RedisSession> session;
  std::string fleet;
  store::FleetMembership member;
  store::FleetReader reader;
  store::FleetCommands commands;
  MarkRecorder marks;
  bool accepted = false;
  FleetStatsCollector stats;
  std::unique_ptr<FleetCommandHandler> command_handler;
  unsigned refusals = 0;  ///< consecutive
  bool refused = false;   ///< already logged
  bool stats_refused = false;
};

/// Client of the API that follows a run. It receives no response until hosts have replied, then a
/// stream until the run ends or the client disconnects.
class Fleet::LogStream final : private store::LogFollower::Handler {
 public:
  LogStream(const FleetHostParts& parts, Link& link, std::string run, http::HttpReplyPtr reply,
            http::ClientPool::Hold hold)
      : hold_(std::move(hold)),
        run_(std::move(run)),
        reply_(std::move(reply)),
        beat_(parts.loop.timers()),
        loop_(parts.loop),
        follower_(parts.loop, link.session->subscriber, link.commands, link.fleet,
                  std::to_string(redis::random_number()), {run_, std::nullopt, "the status API"},
                  *this) {}

  [[nodiscard]] bool has_ended() const { return ended_; }

 private:
  void on_followed(const FleetCommandResult& outcome) override {
    std::vector<view::RunView> runs;
    for (const FleetReply& answer : outcome.replies)
      runs.insert(runs.end(), answer.runs.begin(), answer.runs.end());
    if (!outcome.error.empty() || runs.size() != 1) {
      ended_ = true;
      const unsigned status = outcome.unreachable ? 503 : runs.empty() ? 404 : 409;
      return reply_->send(http::error_response(
          status, !outcome.error.empty() ? outcome.error
                  : runs.empty()
                      ? "no active run has this ID"
                      : "several active run IDs start with this text; use more characters"));
    }
    stream_ = reply_->stream("text/event-stream", ": closed: the client reads too slowly\n\n");
    push("run", view::to_json(runs.front()));
    for (const LogMessage& message : std::exchange(early_, {})) send(message);
    heartbeat();
  }

  void on_log(LogMessage&& message) override {
    if (stream_) return send(message);
    if (!ended_) early_.push_back(std::move(message));
  }

  void on_vanished() override {
    if (ended_) return;
    push("host_lost", R"({"error":"the run is no longer active, and its end was not reported"})");
    close();
  }

  void send(const LogMessage& message) {
    push("log", to_text(message));
    if (!message.ended.empty()) close();
  }

  void close() {
    if (ended_) return;
    ended_ = true;
    stream_->close();
  }

  void push(const char* event, const std::string& data) {
    if (!ended_ && !stream_->push("event: " + std::string(event) + "\ndata: " + data + "\n\n"))
      ended_ = true;
  }

  /// Detects a client that has disconnected.
  void heartbeat() {
    beat_.set(loop_.now() + std::chrono::seconds(15), [this] {
      if (!ended_ && !stream_->push(":\n\n")) ended_ = true;
      if (!ended_) heartbeat();
    });
  }

  const http::ClientPool::Hold hold_;
  const std::string run_;
  const http::HttpReplyPtr reply_;
  std::shared_ptr<http::HttpStream> stream_;
  std::vector<LogMessage> early_;
  bool ended_ = false;
  Timer beat_;
  loop::Loop& loop_;
  store::LogFollower follower_;
};

Fleet::Fleet(const FleetHostParts& parts)
    : parts_(parts),
      started_(parts.loop.now()),
      processors_(parts.processors()),
      lists_(parts.loop.clock(), parts.loop.timers(), parts.supervisor,
             [this] {
               if (link_) link_->member.heartbeat_soon();
             }),
      minutes_(parts.loop.clock(), parts.hour),
      sweep_(parts.loop.timers()),
      log_pool_(max_log_streams),
      logs_sweep_(parts.loop.timers()) {}

Fleet::~Fleet() = default;

void Fleet::start(const Config& config) {
  commit(config);
  join(config);
}

/// Called before lists are served with another Redis or another fleet.
void Fleet::commit(const Config& wanted) {
  fleet_ = wanted.supervisor.fleet;
  if (link_ && is_current(*link_)) return;
  conflict_.reset();
  compare_at_ = Instant{};
  if (!parts_.redis.exists()) conflict_.emplace();  // no heartbeats, no conflict
  parts_.formats(conflict_);
}

/// Returns whether the link is that of the config. False between commit() and applied() if the
/// connection or the fleet has changed.
bool Fleet::is_current(const Link& link) const {
  return link.session == parts_.redis.session() && link.fleet == fleet_;
}

void Fleet::join(const Config& config) {
  lists_.set_wanted(false);
  parts_.counted(1);
  store::FleetMembership::Handler& handler = *this;
  link_ = std::make_unique<Link>(parts_, config.supervisor.fleet, parts_.id, handler);
}

void Fleet::applied(const Config& config) {
  processors_ = parts_.processors();
  if (std::exchange(hash_, config.hash) != config.hash) applied_ = parts_.loop.now();
  if (is_current(*link_)) {
    lists_.check_all();
    return link_->member.heartbeat_soon();
  }
  logs_.clear();  // they use the old link; clients reconnect
  left_ = std::move(link_);
  left_->member.leave([this] { sweep_.set(parts_.loop.now(), [this] { left_.reset(); }); });
  join(config);
}

void Fleet::leave(std::function<void()> then) {
  lists_.set_wanted(false);
  leaving_ = true;
  if (link_->accepted) link_->marks.leave();
  link_->member.leave(std::move(then));
}

void Fleet::stop() {
  lists_.set_wanted(false);
  logs_.clear();
  left_.reset();
  link_.reset();
}

void Fleet::on_event(const Event& event) {
  if (!link_) return;
  if (link_->command_handler) link_->command_handler->on_event(event);
  lists_.on_event(event);
  if (link_->accepted) link_->marks.on_event(event);
  if (std::holds_alternative<HostChanged>(event) || std::holds_alternative<HostReady>(event) ||
      std::holds_alternative<Reloaded>(event))
    link_->member.heartbeat_soon();
}

/// Returns the statistics that are due. A host that leaves sends all at once.
std::vector<MinuteStats> Fleet::stats() {
  if (leaving_) return parts_.hour.drain(static_cast<std::size_t>(-1));
  if (parts_.loop.now() < stats_due_) return {};
  stats_due_ = parts_.loop.now() + stats_interval;
  return parts_.hour.drain(max_stats_lists);
}

bool Fleet::listens() const {
  return link_ && link_->command_handler && link_->command_handler->listens();
}

HostHeartbeat Fleet::heartbeat(const RedisClock& time) {
  const HostStatus status = parts_.control.status();
  HostHeartbeat heartbeat;
  heartbeat.format = fleet_format;
  heartbeat.host = status.host;
  heartbeat.id = parts_.id;
  heartbeat.pid = status.pid;
  heartbeat.version = status.version;
  heartbeat.state = state_name(status.state);
  heartbeat.started = time.at(started_);
  heartbeat.config_hash = hash_;
  heartbeat.generation = status.generation;
  if (!hash_.empty()) heartbeat.applied = time.at(applied_);
  if (status.last_reload_failed) {
    heartbeat.reload_failed = time.at(parts_.loop.now()) - (status.now - status.last_reload_at);
    heartbeat.reload_error = reload_error(status);
  }
  heartbeat.clock_offset = status.now - time.at(parts_.loop.now());
  heartbeat.processors = processors_;
  heartbeat.slots_used = status.slots_used;
  heartbeat.slots_limit = status.slots_limit;
  heartbeat.lease_margin = in_ms(status.redis.lease_margin);
  heartbeat.min_lease_margin = in_ms(status.redis.min_lease_margin);
  return heartbeat;
}

/// Compares formats after hosts have joined. A new host may have started earlier and found Redis
/// later.
void Fleet::on_counted(std::size_t hosts) {
  if (hosts > std::exchange(hosts_, hosts)) compare_soon();
  parts_.counted(hosts);
}

/// Schedules a comparison after a random delay, because all hosts of a large fleet notice the same
/// change.
void Fleet::compare_soon() {
  const Duration spread = hosts_ * conflict_cost;
  const auto share = static_cast<Duration::rep>(redis::random_number() %
                                                static_cast<std::uint64_t>(spread.count() + 1));
  compare_at_ = std::min(compare_at_, parts_.loop.now() + Duration(share));
}

/// Compares formats after a heartbeat of this host, so that one of two hosts that start at the same
/// time detects the other.
void Fleet::compare_formats() {
  if (!parts_.redis.exists() || !is_current(*link_) || parts_.loop.now() < compare_at_) return;
  link_->reader.read([this, link = link_.get()](const store::FleetReader::ViewPtr& view) {
    if (link == link_.get() && is_current(*link)) formats_compared(*view);
  });
}

void Fleet::formats_compared(const FleetView& view) {
  if (view.unreachable) return;
  HostHeartbeat own;
  own.id = parts_.id;
  own.started = link_->member.time().at(started_);
  std::string conflict = format_conflict(view, &own);
  compare_at_ = parts_.loop.now() +
                (conflict.empty() ? std::max(compare_interval, Duration(hosts_ * compare_cost))
                                  : Duration(hosts_ * conflict_cost));
  if (conflict_ && *conflict_ == conflict) return;
  if (!conflict.empty())
    parts_.log.error("claiming nothing, formats in the fleet differ", {{"reason", conflict}});
  else if (!conflict_.value_or("").empty())
    parts_.log.info("claiming again, formats agree");
  conflict_ = std::move(conflict);
  parts_.formats(conflict_);
  lists_.check_all();
}

void Fleet::republish() {
  compare_soon();
  minutes_.forget();
  if (link_ && link_->accepted) lists_.set_wanted(true);
}

/// Logs a change between accepted and refused. The first refused key or command depends on the
/// heartbeat, so that only the change is logged.
void Fleet::on_heartbeat_sent(const std::string& refused) {
  compare_formats();
  const bool accepted = refused.empty();
  if (accepted != link_->accepted) {
    link_->accepted = accepted;
    lists_.set_wanted(accepted);
  }
  if (accepted) link_->marks.record_start(started_);
  // A host without a heartbeat does not receive commands, because Redis would refuse each channel.
  if (accepted && !link_->command_handler)
    link_->command_handler = std::make_unique<FleetCommandHandler>(
        FleetCommandHandler::Parts{parts_.loop, parts_.log, parts_.control, link_->member,
                                   link_->session->subscriber,
                                   [this] {
                                     if (changed_) changed_();
                                   }},
        link_->fleet);
  // Logged at the second refusal: permissions may be missing for a moment, while an operator
  // changes them.
  link_->refusals = accepted ? 0 : link_->refusals + 1;
  if (link_->refusals == 1) return;
  if (accepted != std::exchange(link_->refused, !accepted)) return;
  if (accepted) return parts_.log.info("heartbeat accepted again");
  parts_.log.warn("heartbeat refused by Redis", {{"fleet", link_->fleet}, {"reason", refused}});
}

/// Logs a change between accepted and refused statistics. Ignores the reply while the heartbeat is
/// refused, because both usually have one cause.
void Fleet::on_stats_sent(const std::string& refused) {
  if (!link_->accepted) return;
  if (refused.empty() == !std::exchange(link_->stats_refused, !refused.empty())) return;
  if (refused.empty()) return parts_.log.info("statistics accepted again");
  parts_.log.warn("statistics refused by Redis", {{"fleet", link_->fleet}, {"reason", refused}});
}

/// Runs `query` on the query thread, and calls `then` with a pointer to its value and with the
/// error. The pointer is nullptr after an error.
template <class Query, class Then>
void Fleet::run_query(Query query, Then then) {
  using Value = std::invoke_result_t<Query&, verbs::QueryContext&>;
  const auto value = std::make_shared<Value>();
  parts_.queries.run(
      [value, query = std::move(query)](verbs::QueryContext& context) {
        *value = query(context);
        return http::HttpResponse{};
      },
      [value, then = std::move(then)](const http::HttpResponse& response) {
        if (response.status == 200) return then(value.get(), std::string());
        // After a timeout, the query thread may still write to `value`.
        then(static_cast<Value*>(nullptr), api::error_in(response));
      },
      true);
}

void Fleet::read(Seen then) {
  run_query([](verbs::QueryContext& query) { return page::glance_of(verbs::fleet_hosts(query)); },
            [then = std::move(then)](api::FleetGlance* glance, const std::string& error) {
              if (glance != nullptr) return then(std::move(*glance));
              FleetView none;
              none.error = error;
              then(page::glance_of(none));
            });
}

void Fleet::details(std::vector<view::HostWish> wishes, Detailed then) {
  run_query([wishes = std::move(wishes)](
                verbs::QueryContext& query) { return verbs::host_details(query, wishes); },
            [then = std::move(then)](std::vector<view::HostDetails>* hosts, const std::string&) {
              if (hosts != nullptr) return then(std::move(*hosts));
              then({});
            });
}

void Fleet::lists(std::optional<std::string> list, Listed then) {
  if (!parts_.redis.exists()) return then({});
  if (!parts_.redis.session()->client.connected()) {
    FleetLists none;
    none.error = "Redis is unavailable";
    return then(std::move(none));
  }
  struct Pending {
    Pending(TimerQueue& timers, Listed answer) : then(std::move(answer)), timeout(timers) {}
    void finish(FleetLists&& lists) {
      if (then) std::exchange(then, {})(std::move(lists));
    }
    void fail(std::string why) {
      FleetLists none;
      none.error = std::move(why);
      finish(std::move(none));
    }
    Listed then;  ///< empty after its call
    Timer timeout;
  };
  const auto pending = std::make_shared<Pending>(parts_.loop.timers(), std::move(then));
  pending->timeout.set(parts_.loop.now() + lists_timeout, [weak = std::weak_ptr(pending)] {
    if (const auto waits = weak.lock()) waits->fail("the fleet was not read within 3 s");
  });
  run_query([own = parts_.id, list = std::move(list)](
                verbs::QueryContext& query) { return verbs::fleet_lists(query, own, list); },
            [pending](FleetLists* found, const std::string& error) {
              if (found == nullptr) return pending->fail(error);
              pending->finish(std::move(*found));
            });
}

void Fleet::send(FleetCommand order, Sent then) {
  link_->commands.send(std::move(order),
                       [then = std::move(then)](FleetCommandResult&& outcome) { then(outcome); });
}

void Fleet::follow(const std::string& run, http::HttpReplyPtr reply) {
  std::erase_if(logs_, [](const auto& each) { return each->has_ended(); });
  const bool trusted = reply->trusted();
  if (!log_pool_.fits(trusted))
    return reply->send(http::error_response(503, "too many clients follow runs; retry later"));
  logs_.push_back(
      std::make_unique<LogStream>(parts_, *link_, run, std::move(reply), log_pool_.hold(trusted)));
  if (!logs_sweep_.pending()) sweep_logs();
}

void Fleet::sweep_logs() {
  std::erase_if(logs_, [](const auto& each) { return each->has_ended(); });
  if (!logs_.empty())
    logs_sweep_.set(parts_.loop.now() + std::chrono::seconds(1), [this] { sweep_logs(); });
}

}  // namespace w8y::app
