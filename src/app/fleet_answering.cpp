#include "app/fleet_answering.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "ops/fleet_json.hpp"

namespace w8y::app {

namespace {

using Kind = ops::ControlResult::Kind;

/// Of what is ignored, one line in so long.
constexpr Duration log_gap = std::chrono::minutes(1);
/// Whoever waits for an answer has it in time.
constexpr Duration longest_wait = std::chrono::milliseconds(1500);
/// Reloads that go on while others are ordered.
constexpr std::size_t most_slow = 64;

/// A run as the status of this host has it, with what only others need to be told.
std::string run_text(const std::string& list, const RunStatus& run, WallTime now, bool one) {
  RunStatus told = run;
  if (!one && told.item.beginning.size() > max_told_item)
    told.item =
        ShownItem(std::string_view(told.item.beginning).substr(0, max_told_item), told.item.length);
  return ops::dump(ops::run_json(list, told, now));
}

}  // namespace

struct FleetAnswering::Slow {
  Slow(TimerQueue& timers, std::string id) : order(std::move(id)), patience(timers) {}
  std::string order;
  Timer patience;
  bool answered = false;
};

FleetAnswering::FleetAnswering(const Parts& parts, const std::string& fleet)
    : redis::Subscriber::Listener(parts.subscriber),
      parts_(parts),
      keys_(fleet),
      control_(parts.subscriber.subscribe(
          keys_.control, [this](std::string_view, std::string_view payload) { heard(payload); })) {}

FleetAnswering::~FleetAnswering() = default;

void FleetAnswering::on_refused(const std::string& channel, const std::string& why) {
  if (channel != keys_.control || std::exchange(refused_told_, true)) return;
  parts_.log.warn("Redis does not let this host hear orders to the fleet",
                  {{"channel", channel}, {"why", why}});
}

void FleetAnswering::heard(std::string_view payload) {
  const auto read = parse_order(payload);
  if (const auto* bad = std::get_if<BadOrder>(&read)) return ignore(bad->why);
  const auto& order = std::get<FleetOrder>(read);
  const std::string& id = parts_.member.id();
  if (!order.is_for(name_in_host_id(id), id)) return;
  const RedisTime& time = parts_.member.time();
  if (order.until.count() > 0 && time.known() && order.until < time.at(parts_.loop.now()))
    return ignore("it came too late to be carried out");
  carry_out(order);
}

/// However many there are.
void FleetAnswering::ignore(const std::string& why) {
  const Instant now = parts_.loop.now();
  if (now < silent_until_) {
    ++ignored_;
    return;
  }
  silent_until_ = now + log_gap;
  parts_.log.warn("ignored an order to the fleet",
                  {{"channel", keys_.control}, {"why", why}, {"more_before", ignored_}});
  ignored_ = 0;
}

void FleetAnswering::carry_out(const FleetOrder& order) {
  ops::Control& control = parts_.control;
  if (order.kind != OrderKind::runs)
    parts_.log.info("an order to the fleet",
                    {{"order", order_name(order.kind)}, {"by", order.by}, {"id", order.id}});
  switch (order.kind) {
    case OrderKind::quiet:
      return answer(order.id, control.quiet());
    case OrderKind::resume:
      return answer(order.id, control.resume());
    case OrderKind::drain:
      return answer(order.id, control.drain());
    case OrderKind::reload:
      return reload(order);
    case OrderKind::cancel:
      return answer(order.id, control.cancel(order.run));
    case OrderKind::run:
      return control.run_item(order.list, order.item,
                              [this, alive = std::weak_ptr<bool>(alive_),
                               id = order.id](const ops::ControlResult& result) {
                                if (!alive.expired()) answer(id, result);
                              });
    case OrderKind::runs:
      return tell_runs(order);
  }
}

std::shared_ptr<FleetAnswering::Slow> FleetAnswering::begin_slow(const FleetOrder& order) {
  auto slow = std::make_shared<Slow>(parts_.loop.timers(), order.id);
  slow_.push_back(slow);
  return slow;
}

/// A reload asks executors, which may take longer than anybody waits.
void FleetAnswering::reload(const FleetOrder& order) {
  if (slow_.size() >= most_slow)
    return answer(order.id, {Kind::refused, "too many reloads were ordered at once", {}, {}});
  const auto slow = begin_slow(order);
  const std::weak_ptr<Slow> weak = slow;
  slow->patience.set(parts_.loop.now() + longest_wait, [this, weak] {
    const auto asked = weak.lock();
    if (!asked || std::exchange(asked->answered, true)) return;
    answer(asked->order, {Kind::accepted, "the reload goes on", {}, {}});
  });
  parts_.control.reload([this, weak](const ops::ControlResult& result) {
    const auto asked = weak.lock();  // gone with this
    if (!asked) return;
    std::erase(slow_, asked);
    if (!std::exchange(asked->answered, true)) answer(asked->order, result);
  });
}

void FleetAnswering::tell_runs(const FleetOrder& order) {
  struct Told {
    std::vector<std::string> runs;
    std::size_t bytes = 0;
    std::size_t more = 0;
  };
  const auto told = std::make_shared<Told>();
  const WallTime now = parts_.loop.clock().wall();
  parts_.control.each_list(
      [told, now, start = order.run](const ListStatus& list) {
        for (const RunStatus& run : list.runs) {
          if (!run.run.starts_with(start)) continue;
          std::string text = run_text(list.prefix, run, now, !start.empty());
          told->bytes += text.size();
          if (told->runs.size() < max_told_runs && told->bytes < max_answer / 2) {
            told->runs.push_back(std::move(text));
          } else {
            ++told->more;
          }
        }
      },
      [this, alive = std::weak_ptr<bool>(alive_), told, id = order.id] {
        if (alive.expired()) return;
        const std::size_t count = told->runs.size() + told->more;
        answer(id, {Kind::done, std::to_string(count) + (count == 1 ? " run" : " runs"), {}, {}},
               std::move(told->runs), told->more);
      });
}

void FleetAnswering::answer(const std::string& order, const ops::ControlResult& result,
                            std::vector<std::string> runs, std::size_t more_runs) {
  FleetAnswer told;
  told.host_id = parts_.member.id();
  told.host = name_in_host_id(told.host_id);
  told.result = ops::kind_name(result.kind);
  told.text = result.text;
  std::size_t bytes = 0;
  for (const auto& line : result.lines) {
    bytes += line.size();
    if (bytes < max_answer / 4) told.lines.push_back(line);
  }
  told.runs = std::move(runs);
  told.more_runs = more_runs;
  parts_.member.client().call({"PUBLISH", keys_.answer(order), to_text(told)});
}

}  // namespace w8y::app
