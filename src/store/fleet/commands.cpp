#include "store/fleet/commands.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "loop/loop.hpp"

namespace w8y::store {

namespace {

/// Additional time for replies in transit: a host that replies within order_timeout is included.
constexpr Duration slack = std::chrono::milliseconds(500);
constexpr std::size_t max_answers = 10'000;

bool by_host(const FleetReply& a, const FleetReply& b) {
  return std::tie(a.host, a.host_id) < std::tie(b.host, b.host_id);
}

}  // namespace

struct FleetCommands::Pending {
  Pending(loop::Loop& loop, FleetCommand what, Then what_then)
      : order(std::move(what)), then(std::move(what_then)), timeout(loop.timers()) {}
  FleetCommand order;
  Then then;
  FleetCommandResult outcome;
  redis::Subscription answers;
  Timer timeout;
  bool published = false;
  bool over = false;
};

FleetCommands::FleetCommands(loop::Loop& loop, redis::Client& client, redis::Subscriber& subscriber,
                             FleetReader& reader, const std::string& fleet, std::uint64_t seed)
    : loop_(loop),
      client_(client),
      subscriber_(subscriber),
      reader_(reader),
      keys_(fleet),
      seed_(seed) {}

FleetCommands::~FleetCommands() = default;

/// Returns a unique ID, which other clients do not use by accident.
std::string FleetCommands::new_id() {
  static constexpr char digits[] = "0123456789abcdef";
  std::string id;
  for (std::uint64_t rest = seed_; id.size() < 16; rest >>= 4U) id += digits[rest & 15U];
  seed_ = seed_ * 6364136223846793005U + 1442695040888963407U;
  return id;
}

void FleetCommands::send(FleetCommand order, Then then) {
  order.id = new_id();
  const auto given = std::make_shared<Pending>(loop_, std::move(order), std::move(then));
  pending_.push_back(given);
  reader_.read([this, weak = std::weak_ptr<Pending>(given)](const FleetReader::ViewPtr& view) {
    if (const auto asked = weak.lock()) handle_view(asked, *view);
  });
}

void FleetCommands::handle_view(const GivenPtr& given, const FleetView& view) {
  FleetCommandResult& outcome = given->outcome;
  if (!view.error.empty()) {
    outcome.unreachable = view.unreachable;
    return fail(given, view.error);
  }
  outcome.now = view.now;
  for (const FleetHost& host : view.hosts)
    if (!host.expired && given->order.is_for(host.heartbeat.host, host.heartbeat.id))
      outcome.no_reply.push_back(
          {host.heartbeat.host, host.heartbeat.id, host.unresponsive, host.last_heartbeat});
  if (outcome.no_reply.empty()) {
    outcome.not_found = true;
    std::vector<std::string_view> names;
    for (const FleetHost& host : view.hosts) names.emplace_back(host.heartbeat.host);
    return fail(given, given->order.host.empty()
                           ? "no host is in the fleet " + escape_text(view.fleet)
                           : "there is no host " + escape_text(given->order.host) +
                                 " in the fleet " + escape_text(view.fleet) +
                                 core::near_hint(given->order.host, names));
  }
  given->order.until = view.now + std::chrono::duration_cast<WallTime>(order_timeout);
  finish_at(given, loop_.now() + order_timeout + slack);
  const std::weak_ptr<Pending> weak = given;
  given->answers = subscriber_.subscribe(
      keys_.reply(given->order.id),
      [this, weak](std::string_view, std::string_view payload) {
        if (const auto asked = weak.lock()) handle_reply(asked, payload);
      },
      [this, weak] {
        if (const auto asked = weak.lock()) publish(asked);
      });
}

void FleetCommands::publish(const GivenPtr& given) {
  if (std::exchange(given->published, true) || given->over) return;
  const std::string text = to_text(given->order);
  client_.call({"PUBLISH", keys_.control, text}, [this, weak = std::weak_ptr<Pending>(given)](
                                                     const redis::Answer& answer) {
    const auto asked = weak.lock();
    if (!asked || asked->over || answer.ok()) return;
    asked->outcome.unreachable = answer.failure != redis::Failure::none;
    asked->outcome.replies.clear();
    fail(asked, "the command cannot be published on " + keys_.control + ": " + answer.problem());
  });
}

void FleetCommands::handle_reply(const GivenPtr& given, std::string_view payload) {
  if (given->over) return;
  auto answer = parse_reply(payload);
  FleetCommandResult& outcome = given->outcome;
  if (!answer || outcome.replies.size() >= max_answers) return;
  const auto same = [&](const auto& other) { return other.host_id == answer->host_id; };
  if (std::any_of(outcome.replies.begin(), outcome.replies.end(), same)) return;
  std::erase_if(outcome.no_reply, same);
  outcome.replies.push_back(std::move(*answer));
  const bool all = std::all_of(outcome.no_reply.begin(), outcome.no_reply.end(),
                               [](const auto& missing) { return missing.unresponsive; });
  if (all) finish_at(given, loop_.now());
}

void FleetCommands::fail(const GivenPtr& given, std::string why) {
  given->outcome.error = std::move(why);
  given->outcome.no_reply.clear();
  finish_at(given, loop_.now());
}

void FleetCommands::finish_at(const GivenPtr& given, Instant when) {
  given->timeout.set(when, [this, weak = std::weak_ptr<Pending>(given)] {
    if (const auto asked = weak.lock()) finish(asked);
  });
}

void FleetCommands::finish(const GivenPtr& given) {
  if (std::exchange(given->over, true)) return;
  given->answers.reset();
  given->timeout.cancel();
  std::erase(pending_, given);
  FleetCommandResult& outcome = given->outcome;
  if (outcome.error.empty() && !given->published) {
    outcome.unreachable = !subscriber_.connected();
    outcome.error = outcome.unreachable
                        ? "replies cannot be received: Redis refuses the connection for channels"
                        : "Redis does not permit a subscription to the channels " +
                              keys_.reply_prefix + "*; grant them to this user";
    outcome.no_reply.clear();
  }
  std::sort(outcome.replies.begin(), outcome.replies.end(), by_host);
  given->then(std::move(outcome));
}

}  // namespace w8y::store
