#include "store/fleet/commands.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/escape.hpp"
#include "loop/loop.hpp"

namespace w8y::store {

namespace {

/// An answer travels too: who answers within order_patience is heard.
constexpr Duration slack = std::chrono::milliseconds(500);
constexpr std::size_t most_answers = 10'000;

bool by_host(const FleetAnswer& a, const FleetAnswer& b) {
  return std::tie(a.host, a.host_id) < std::tie(b.host, b.host_id);
}

}  // namespace

struct FleetOrders::Given {
  Given(loop::Loop& loop, FleetOrder what, Then what_then)
      : order(std::move(what)), then(std::move(what_then)), patience(loop.timers()) {}
  FleetOrder order;
  Then then;
  FleetOutcome outcome;
  redis::Subscription answers;
  Timer patience;
  bool published = false;
  bool over = false;
};

FleetOrders::FleetOrders(loop::Loop& loop, redis::Client& client, redis::Subscriber& subscriber,
                         FleetReader& reader, const std::string& fleet, std::uint64_t seed)
    : loop_(loop),
      client_(client),
      subscriber_(subscriber),
      reader_(reader),
      keys_(fleet),
      seed_(seed) {}

FleetOrders::~FleetOrders() = default;

/// Nobody else's, and not to be guessed by accident.
std::string FleetOrders::new_id() {
  static constexpr char digits[] = "0123456789abcdef";
  std::string id;
  for (std::uint64_t rest = seed_; id.size() < 16; rest >>= 4U) id += digits[rest & 15U];
  seed_ = seed_ * 6364136223846793005U + 1442695040888963407U;
  return id;
}

void FleetOrders::give(FleetOrder order, Then then) {
  order.id = new_id();
  const auto given = std::make_shared<Given>(loop_, std::move(order), std::move(then));
  given_.push_back(given);
  reader_.read([this, weak = std::weak_ptr<Given>(given)](const FleetReader::ViewPtr& view) {
    if (const auto asked = weak.lock()) take_view(asked, *view);
  });
}

void FleetOrders::take_view(const GivenPtr& given, const FleetView& view) {
  FleetOutcome& outcome = given->outcome;
  if (!view.trouble.empty()) {
    outcome.unreachable = view.unreachable;
    return fail(given, view.trouble);
  }
  outcome.now = view.now;
  for (const FleetHost& host : view.hosts)
    if (given->order.is_for(host.beat.host, host.beat.id))
      outcome.missing.push_back({host.beat.host, host.beat.id, host.silent, host.last_beat});
  if (outcome.missing.empty()) {
    outcome.not_found = true;
    return fail(given, given->order.host.empty()
                           ? "no host is in the fleet " + escape_text(view.fleet)
                           : "there is no host " + escape_text(given->order.host) +
                                 " in the fleet " + escape_text(view.fleet));
  }
  given->order.until = view.now + std::chrono::duration_cast<WallTime>(order_patience);
  finish_at(given, loop_.now() + order_patience + slack);
  const std::weak_ptr<Given> weak = given;
  given->answers = subscriber_.subscribe(
      keys_.reply(given->order.id),
      [this, weak](std::string_view, std::string_view payload) {
        if (const auto asked = weak.lock()) take_answer(asked, payload);
      },
      [this, weak] {
        if (const auto asked = weak.lock()) publish(asked);
      });
}

void FleetOrders::publish(const GivenPtr& given) {
  if (std::exchange(given->published, true) || given->over) return;
  const std::string text = to_text(given->order);
  client_.call({"PUBLISH", keys_.control, text}, [this, weak = std::weak_ptr<Given>(given)](
                                                     const redis::Answer& answer) {
    const auto asked = weak.lock();
    if (!asked || asked->over || answer.ok()) return;
    asked->outcome.unreachable = answer.failure != redis::Failure::none;
    asked->outcome.answers.clear();
    fail(asked, "the order can't be published on " + keys_.control + ": " + answer.problem());
  });
}

void FleetOrders::take_answer(const GivenPtr& given, std::string_view payload) {
  if (given->over) return;
  auto answer = parse_answer(payload);
  FleetOutcome& outcome = given->outcome;
  if (!answer || outcome.answers.size() >= most_answers) return;
  const auto same = [&](const auto& other) { return other.host_id == answer->host_id; };
  if (std::any_of(outcome.answers.begin(), outcome.answers.end(), same)) return;
  std::erase_if(outcome.missing, same);
  outcome.answers.push_back(std::move(*answer));
  const bool all = std::all_of(outcome.missing.begin(), outcome.missing.end(),
                               [](const auto& missing) { return missing.silent; });
  if (all) finish_at(given, loop_.now());
}

void FleetOrders::fail(const GivenPtr& given, std::string why) {
  given->outcome.trouble = std::move(why);
  given->outcome.missing.clear();
  finish_at(given, loop_.now());
}

void FleetOrders::finish_at(const GivenPtr& given, Instant when) {
  given->patience.set(when, [this, weak = std::weak_ptr<Given>(given)] {
    if (const auto asked = weak.lock()) finish(asked);
  });
}

void FleetOrders::finish(const GivenPtr& given) {
  if (std::exchange(given->over, true)) return;
  given->answers.reset();
  given->patience.cancel();
  std::erase(given_, given);
  FleetOutcome& outcome = given->outcome;
  if (outcome.trouble.empty() && !given->published) {
    outcome.unreachable = !subscriber_.connected();
    outcome.trouble =
        outcome.unreachable
            ? "Redis does not let us hear answers: no connection for channels"
            : "Redis does not permit a subscription to the channels " + keys_.reply_prefix + "*";
    outcome.missing.clear();
  }
  std::sort(outcome.answers.begin(), outcome.answers.end(), by_host);
  given->then(std::move(outcome));
}

}  // namespace w8y::store
