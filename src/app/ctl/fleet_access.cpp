#include "app/ctl/fleet_access.hpp"

#include <functional>
#include <iostream>
#include <utility>

#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/who.hpp"
#include "app/look/sight.hpp"
#include "app/random_number.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"
#include "ops/fleet_json.hpp"
#include "ops/http_target.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/orders.hpp"
#include "store/fleet/reader.hpp"
#include "view/fleet.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

[[noreturn]] void fail(bool unreachable, const std::string& why) {
  throw Failure(unreachable ? not_reachable : refused, escape(why));
}

}  // namespace

struct FleetAccess::Direct {
  Direct(loop::Loop& of, const redis::ClientOptions& options, const std::string& fleet)
      : loop(of),
        client(of, options),
        subscriber(of, options),
        reader(of, client, fleet),
        orders(of, client, subscriber, reader, fleet, random_number()) {}

  loop::Loop& loop;
  redis::Client client;
  redis::Subscriber subscriber;
  store::FleetReader reader;
  store::FleetOrders orders;
};

FleetAccess::FleetAccess(const Options& options, Context& context)
    : options_(options), context_(context) {}

FleetAccess::~FleetAccess() = default;

/// It has the rights, and knows the name of the fleet.
bool FleetAccess::asks_w8yd() {
  if (std::exchange(decided_, true)) return asks_w8yd_;
  const bool only_redis = options_.socket.empty() && !options_.redis_url.empty();
  asks_w8yd_ = !only_redis && options_.fleet.empty() && context_.try_ask("/healthz").has_value();
  return asks_w8yd_;
}

FleetAccess::Direct& FleetAccess::direct() {
  if (!direct_)
    direct_ = std::make_unique<Direct>(context_.loop(), context_.redis_options(), context_.fleet());
  return *direct_;
}

Json FleetAccess::part(const look::FleetWish& wish) {
  if (asks_w8yd())
    return context_.host().ask("/api/v1/fleet?limit=" + std::to_string(wish.part.limit) +
                               "&lists=" + (wish.lists ? "yes" : "no") +
                               (wish.list ? "&list=" + ops::percent_encode(*wish.list) : "") +
                               (wish.part.after.empty() ? "" : "&after=" + wish.part.after));
  try {
    const look::FleetPlace at{context_.redis(), context_.fleet()};
    return ops::parse(look::fleet_view(at, wish)).value_or(Json::object());
  } catch (const look::Refusal& refusal) {
    fail(refusal.status() == 503, refusal.what());
  } catch (const redis::RedisError& error) {
    fail(error.code() == redis::ErrorCode::none, error.what());
  }
}

void FleetAccess::each_part(bool lists, const std::optional<std::string>& list,
                            const std::function<void(Json&&)>& take) {
  look::FleetWish wish{lists, list, {look::most_view_hosts, {}}};
  do {
    Json some = part(wish);
    wish.part.after = raw_in(some, "next");
    take(std::move(some));
  } while (!wish.part.after.empty());
}

Json FleetAccess::look(bool lists, const std::optional<std::string>& list) {
  Json all;
  each_part(lists, list, [&all](Json&& part) {
    part.erase("next");
    if (all.is_null()) {
      all = std::move(part);
    } else {
      for (Json& host : part["hosts"]) all["hosts"].push_back(std::move(host));
    }
  });
  return all;
}

Json FleetAccess::give(FleetOrder order) {
  order.by = who_we_are();
  if (asks_w8yd()) {
    const std::string where =
        order.host.empty() ? "all=yes" : "host=" + ops::percent_encode(order.host);
    if (order.kind == OrderKind::logs)
      return context_.host().ask("/api/v1/fleet/logs?run=" + ops::percent_encode(order.run) +
                                 (order.list ? "&list=" + ops::percent_encode(*order.list) : ""));
    if (order.kind == OrderKind::runs)
      return context_.host().ask("/api/v1/fleet/runs?run=" + ops::percent_encode(order.run) +
                                 (order.host.empty() ? "" : "&" + where) +
                                 (order.list ? "&list=" + ops::percent_encode(*order.list) : ""));
    Json body = Json::object();
    ops::put_bytes(body, "by", order.by);
    if (order.kind == OrderKind::run) {
      ops::put_bytes(body, "list", order.list.value_or(std::string()));
      ops::put_bytes(body, "item", order.item);
    }
    if (!order.run.empty()) ops::put_bytes(body, "run", order.run);
    return context_.host().order("/api/v1/" + std::string(order_name(order.kind)) + "?" + where,
                                 body);
  }
  Direct& at = direct();
  std::unique_ptr<FleetOutcome> outcome;
  at.orders.give(std::move(order), [&outcome](FleetOutcome&& told) {
    outcome = std::make_unique<FleetOutcome>(std::move(told));
  });
  while (!outcome) at.loop.turn(true);
  if (!outcome->trouble.empty()) fail(outcome->unreachable, outcome->trouble);
  return ops::to_json(*outcome);
}

std::unique_ptr<store::LogFollower> FleetAccess::follow(store::LogFollower::Wish wish,
                                                        store::LogFollower::Handler& handler) {
  Direct& at = direct();
  return std::make_unique<store::LogFollower>(at.loop, at.subscriber, at.orders, context_.fleet(),
                                              std::to_string(random_number()), std::move(wish),
                                              handler);
}

int tell_fleet(const Options& options, const Json& answer) {
  const int status = answer.value("complete", false) ? done : refused;
  if (options.json) {
    print_json(answer);
    return status;
  }
  for (const auto& host : array_in(answer, "hosts")) {
    const std::string result = raw_in(host, "result");
    const bool good = result == "done" || result == "accepted";
    std::cout << shown_in(host, "host") << ": " << (good ? "" : "refused: ")
              << text_in(host, "text") << '\n';
    for (const auto& line : array_in(host, "lines"))
      if (line.is_string()) std::cout << "  " << escape(line.get<std::string>()) << '\n';
  }
  for (const auto& host : array_in(answer, "missing")) {
    const WallTime last = ms_in(host, "last_beat_ms");
    const WallTime now = ms_in(answer, "now_ms");
    std::cout << shown_in(host, "host") << ": did not answer within 2s";
    if (host.value("silent", false))
      std::cout << "; silent since " << time_text(last) << ", for " << rough_duration(now - last);
    std::cout << '\n';
  }
  return status;
}

}  // namespace w8y::app::ctl
