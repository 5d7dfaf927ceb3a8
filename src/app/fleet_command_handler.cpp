#include "app/fleet_command_handler.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/api_json.hpp"
#include "core/escape.hpp"

namespace w8y::app {

namespace {

using Kind = api::CommandResult::Kind;

/// Time until a reply, which is shorter than the timeout of the sender.
constexpr Duration max_wait = std::chrono::milliseconds(1500);
/// Maximum number of reloads in progress by fleet commands.
constexpr std::size_t max_slow = 64;
/// Maximum number of concurrent iterations over all lists, each of which collects a reply.
constexpr std::size_t max_walks = 16;
/// Bytes of replies that wait for Redis. Beyond them, further replies are not sent.
constexpr std::size_t max_unsent = 2 * max_answer;

/// Maximum number of bytes of earlier output, of one run and of all runs of a reply.
constexpr std::size_t max_tail = std::size_t{64} << 10;
constexpr std::size_t max_tails = max_answer / 4;
/// Maximum number of runs in a reply with resource use. The resource use of a run reads /proc.
constexpr std::size_t max_used = 8;

}  // namespace

/// Runs of a reply, up to the maximum size of a reply.
struct FleetCommandHandler::ToldRuns {
  std::vector<view::RunView> runs;
  std::size_t bytes = 0;
  std::size_t more = 0;
  std::optional<HostList> list;
  /// Returns the earlier output of a run; empty: the reply has no output.
  std::function<std::string(const RunId&)> tail_of;

  /// Returns the end of the earlier output that fits beside that of other runs, without a line that
  /// is not complete yet. Such a line is sent when it is complete.
  [[nodiscard]] std::string fitting(std::string tail) const {
    const std::size_t room = bytes < max_tails ? std::min(max_tail, max_tails - bytes) : 0;
    tail.resize(tail.rfind('\n') + 1);
    if (tail.size() > room) tail.erase(0, tail.size() - room);
    return tail;
  }

  /// Adds the runs of the list whose IDs start with `start`. A search for a run also finds runs
  /// with a pending settlement.
  void add(const ListStatus& status, const std::string& start, WallTime now,
           const api::Control& control) {
    add(status, status.runs, start, now, control);
    if (!start.empty() && !tail_of) add(status, status.settling, start, now, control);
  }
  void add(const ListStatus& status, const std::vector<RunStatus>& found, const std::string& start,
           WallTime now, const api::Control& control) {
    for (const RunStatus& run : found) {
      if (!std::string_view(run.run).starts_with(start)) continue;
      view::RunView shown{status.prefix, run, std::max(WallTime{0}, now - run.started), {}, {}, {}};
      DisplayItem& item = shown.status.item;
      if (start.empty() && item.beginning.size() > max_told_item)
        item = DisplayItem(std::string_view(item.beginning).substr(0, max_told_item), item.length);
      if (tail_of) shown.tail = fitting(tail_of(run.run));
      if (!start.empty() && run.pid > 0 && runs.size() < max_used)
        shown.used = control.process_use(run.pid);
      bytes += view::to_json(shown).size();
      if (runs.size() < max_told_runs && bytes < max_answer / 2) {
        runs.push_back(std::move(shown));
      } else {
        ++more;
      }
    }
  }
};

struct FleetCommandHandler::Slow {
  Slow(TimerQueue& timers, std::string id) : order(std::move(id)), timeout(timers) {}
  std::string order;
  Timer timeout;
  bool finished = false;
};

FleetCommandHandler::FleetCommandHandler(const Parts& parts, const std::string& fleet)
    : redis::Subscriber::Listener(parts.subscriber),
      parts_(parts),
      keys_(fleet),
      command_log_(parts.log, parts.loop.clock(), parts.loop.timers()),
      logs_timer_(parts.loop.timers()),
      control_(parts.subscriber.subscribe(
          keys_.control,
          [this](std::string_view, std::string_view payload) { on_message(payload); })),
      changes_(parts.subscriber.subscribe(
          keys_.changes, [this](std::string_view, std::string_view) { parts_.changed(); })) {}

FleetCommandHandler::~FleetCommandHandler() = default;

void FleetCommandHandler::on_refused(const std::string& channel, const std::string& why) {
  if (channel != keys_.control || std::exchange(refused_told_, true)) return;
  parts_.log.warn("fleet commands refused by Redis", {{"channel", channel}, {"reason", why}});
}

void FleetCommandHandler::on_message(std::string_view payload) {
  const auto read = parse_command(payload);
  if (const auto* bad = std::get_if<InvalidFleetCommand>(&read))
    return command_log_.ignored(keys_.control, bad->why);
  const auto& order = std::get<FleetCommand>(read);
  const std::string& id = parts_.member.id();
  if (!order.is_for(name_in_host_id(id), id)) return;
  const RedisClock& time = parts_.member.time();
  if (order.until.count() > 0 && time.known() && order.until < time.earliest_at(parts_.loop.now()))
    return command_log_.ignored(keys_.control, "the command arrived after its deadline");
  carry_out(order);
}

void FleetCommandHandler::carry_out(const FleetCommand& order) {
  api::Control& control = parts_.control;
  if (order.kind != FleetCommandKind::runs && order.kind != FleetCommandKind::logs)
    command_log_.received(order);
  switch (order.kind) {
    case FleetCommandKind::quiet:
      return send_reply(order.id, control.quiet());
    case FleetCommandKind::resume:
      return send_reply(order.id, control.resume());
    case FleetCommandKind::drain:
      return send_reply(order.id, control.drain());
    case FleetCommandKind::reload:
      return reload(order);
    case FleetCommandKind::cancel:
      return send_reply(order.id, control.cancel(order.run));
    case FleetCommandKind::run:
      return control.run_item(*order.list, order.item,
                              [this, alive = std::weak_ptr<bool>(alive_),
                               id = order.id](const api::CommandResult& result) {
                                if (!alive.expired()) send_reply(id, result);
                              });
    case FleetCommandKind::runs:
      return reply_with_runs(order);
    case FleetCommandKind::logs:
      return reply_with_logs(order);
  }
}

std::shared_ptr<FleetCommandHandler::Slow> FleetCommandHandler::start_slow(
    const FleetCommand& order) {
  auto slow = std::make_shared<Slow>(parts_.loop.timers(), order.id);
  slow_.push_back(slow);
  return slow;
}

/// Reloads the config. A reload probes executors, which may take longer than the timeout of the
/// sender.
void FleetCommandHandler::reload(const FleetCommand& order) {
  if (slow_.size() >= max_slow)
    return send_reply(
        order.id, {Kind::refused, "too many reloads were requested at once; retry later", {}, {}});
  const auto slow = start_slow(order);
  const std::weak_ptr<Slow> weak = slow;
  slow->timeout.set(parts_.loop.now() + max_wait, [this, weak] {
    const auto asked = weak.lock();
    if (!asked || std::exchange(asked->finished, true)) return;
    send_reply(asked->order, {Kind::accepted, "the reload is still in progress", {}, {}});
  });
  parts_.control.reload([this, weak](const api::CommandResult& result) {
    const auto asked = weak.lock();  // expires with this object
    if (!asked) return;
    std::erase(slow_, asked);
    if (!std::exchange(asked->finished, true)) send_reply(asked->order, result);
  });
}

void FleetCommandHandler::reply_with_runs(const FleetCommand& order) {
  const auto told = std::make_shared<ToldRuns>();
  const WallTime now = parts_.loop.clock().wall();
  if (order.list) {
    if (const auto list = parts_.control.list(*order.list)) {
      told->add(*list, order.run, now, parts_.control);
      const HostStatus host = parts_.control.status();
      told->list = HostList{*list, state_name(host.state), host.slots_used, host.slots_limit};
    }
    return answer_runs(order.id, *told);
  }
  reply_with_all_runs(order, told);
}

void FleetCommandHandler::reply_with_all_runs(const FleetCommand& order,
                                              const std::shared_ptr<ToldRuns>& told) {
  if (walks_ >= max_walks)
    return send_reply(order.id,
                      {Kind::refused,
                       "too many concurrent queries for the runs of all lists; retry later",
                       {},
                       {}});
  ++walks_;
  parts_.control.each_list(
      [told, &control = parts_.control, now = parts_.loop.clock().wall(),
       start = order.run](const ListStatus& list) { told->add(list, start, now, control); },
      [this, alive = std::weak_ptr<bool>(alive_), told, id = order.id] {
        if (alive.expired()) return;
        --walks_;
        answer_runs(id, *told);
      });
}

// ---- output of runs

/// Replies with the earlier output for a new follower. Later output is sent on the channel of the
/// follower.
void FleetCommandHandler::reply_with_logs(const FleetCommand& order) {
  using Followed = LogFollowers::Followed;
  Followed followed = Followed::added;
  if (!order.listener.empty()) followed = followers_.follow(order, parts_.loop.now());
  if (followed == Followed::too_many)
    return send_reply(order.id,
                      {Kind::refused,
                       "too many clients follow the output of runs on this host; retry later",
                       {},
                       {}});
  arm_logs();
  const auto told = std::make_shared<ToldRuns>();
  if (followed == Followed::renewed) return answer_runs(order.id, *told);
  told->tail_of = [this](const RunId& run) { return parts_.control.tail(run); };
  const WallTime now = parts_.loop.clock().wall();
  if (order.list) {
    if (const auto list = parts_.control.list(*order.list))
      told->add(*list, order.run, now, parts_.control);
    return answer_runs(order.id, *told);
  }
  reply_with_all_runs(order, told);
}

void FleetCommandHandler::on_event(const Event& event) {
  if (followers_.none()) return;
  if (const auto* said = std::get_if<RunLogged>(&event)) {
    followers_.on_output(*said, parts_.loop.now());
  } else if (const auto* updated = std::get_if<RunUpdated>(&event)) {
    followers_.updated(*updated, parts_.loop.now());
  } else if (const auto* progressed = std::get_if<RunProgressed>(&event)) {
    followers_.progressed(*progressed, parts_.loop.now());
  } else if (const auto* ended = std::get_if<RunEnded>(&event)) {
    followers_.ended(*ended, parts_.loop.now());
  } else {
    return;
  }
  arm_logs();
}

void FleetCommandHandler::arm_logs() {
  const auto due = followers_.due();
  if (due && (!logs_timer_.pending() || *due < logs_timer_.deadline()))
    logs_timer_.set(*due, [this] { publish_logs(); });
}

void FleetCommandHandler::publish_logs() {
  for (LogFollowers::Due& due : followers_.drain(parts_.loop.now())) {
    due.message.host = name_in_host_id(parts_.member.id());
    parts_.member.client().call({"PUBLISH", keys_.logs(due.listener), to_text(due.message)});
  }
  arm_logs();
}

void FleetCommandHandler::answer_runs(const std::string& order, ToldRuns& told) {
  const std::size_t count = told.runs.size() + told.more;
  FleetReply reply;
  reply.runs = std::move(told.runs);
  reply.omitted_runs = told.more;
  reply.list = std::move(told.list);
  send_reply(order, {Kind::done, std::to_string(count) + (count == 1 ? " run" : " runs"), {}, {}},
             std::move(reply));
}

void FleetCommandHandler::send_reply(const std::string& order, const api::CommandResult& result,
                                     FleetReply told) {
  told.host_id = parts_.member.id();
  told.host = name_in_host_id(told.host_id);
  told.result = api::kind_name(result.kind);
  told.text = result.text;
  told.run = result.run;
  std::size_t bytes = 0;
  for (const auto& line : result.lines) {
    bytes += line.size();
    if (bytes < max_answer / 4) told.lines.push_back(line);
  }
  redis::Client& client = parts_.member.client();
  if (client.unsent() > max_unsent) return command_log_.dropped_reply();
  client.call({"PUBLISH", keys_.reply(order), to_text(told)});
}

}  // namespace w8y::app
