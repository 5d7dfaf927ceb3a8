#include "ctl/fleet_access.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/operator_name.hpp"
#include "ctl/text.hpp"
#include "operator/query_context.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

[[noreturn]] void fail(bool unreachable, const std::string& why) {
  throw redis_failure(!unreachable, why);
}

}  // namespace

namespace {

/// Returns `text`; nullopt if it is empty, so that the parameter is omitted.
std::optional<std::string_view> if_any(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

FleetAccess::FleetAccess(const Options& options, Context& context)
    : options_(options), context_(context) {}

FleetAccess::~FleetAccess() = default;

bool FleetAccess::uses_w8yd() {
  if (std::exchange(decided_, true)) return uses_w8yd_;
  uses_w8yd_ = !options_.only_redis() && options_.fleet.empty() &&
               context_.try_request(api::endpoints::health.target()).has_value();
  return uses_w8yd_;
}

verbs::FleetChannel& FleetAccess::channel() {
  if (!channel_)
    channel_ = std::make_unique<verbs::FleetChannel>(context_.connection(), context_.fleet());
  return *channel_;
}

/// Calls `read` with a query of Redis. Errors become failures.
template <class Read>
auto FleetAccess::query(const Read& read) {
  try {
    return read(context_.query());
  } catch (const verbs::QueryError& refusal) {
    fail(refusal.status() == 503, refusal.what());
  } catch (const verbs::RedisError& error) {
    fail(verbs::is_unreachable(error), error.what());
  }
}

std::vector<ShownProblem> FleetAccess::problems() {
  if (uses_w8yd())
    return read_problems(context_.host().request(api::endpoints::fleet_problems.target()));
  return query([](const verbs::QueryContext& query) {
    std::vector<ShownProblem> shown;
    for (Problem& problem : verbs::fleet_problems(query))
      shown.push_back({kind_name(problem.kind), std::move(problem.host), std::move(problem.text)});
    return shown;
  });
}

void FleetAccess::forget(const std::string& host) {
  if (!uses_w8yd())
    return query([&host](const verbs::QueryContext& query) { verbs::forget_host(query, host); });
  core::AsciiObject body(64);
  body.put_bytes("by", operator_name());
  static_cast<void>(
      context_.host().send_command(api::endpoints::forget_host.target({host}), body.finish()));
}

FleetView FleetAccess::next_part(verbs::FleetWish& wish) {
  if (uses_w8yd()) {
    const JsonFields part = context_.host().request(
        api::endpoints::fleet.target({}, {{"limit", std::to_string(wish.part.limit)},
                                          {"lists", wish.lists ? "yes" : "no"},
                                          {"list", wish.list},
                                          {"host", wish.host},
                                          {"after", if_any(wish.part.after)}}));
    wish.part.after = part.text("next");
    return view::read_fleet(part);
  }
  return query([&wish](const verbs::QueryContext& query) {
    verbs::FleetWalk walk(query, wish);
    FleetView part = walk.fleet();
    while (auto host = walk.next()) part.hosts.push_back(std::move(*host));
    wish.part.after = walk.cursor();
    return part;
  });
}

void FleetAccess::each_part(bool lists, const std::optional<std::string>& list,
                            const std::function<void(FleetView&&)>& take) {
  verbs::FleetWish wish{lists, list, {}, {verbs::max_view_hosts, {}}};
  do take(next_part(wish));
  while (!wish.part.after.empty());
}

FleetView FleetAccess::read(verbs::FleetWish wish) {
  FleetView all = next_part(wish);
  while (!wish.part.after.empty()) {
    FleetView part = next_part(wish);
    std::move(part.hosts.begin(), part.hosts.end(), std::back_inserter(all.hosts));
  }
  return all;
}

FleetView FleetAccess::read(bool lists, const std::optional<std::string>& list) {
  return read({lists, list, {}, {verbs::max_view_hosts, {}}});
}

FleetView FleetAccess::read_host(const std::string& name) {
  FleetView fleet = read({true, {}, name, {verbs::max_view_hosts, {}}});
  std::stable_partition(fleet.hosts.begin(), fleet.hosts.end(), [](const FleetHost& host) {
    return !host.unresponsive && host.error.empty();
  });
  if (!fleet.hosts.empty()) return fleet;
  std::vector<std::string> names;
  for (const FleetHost& host : read(false).hosts) names.push_back(host.heartbeat.host);
  throw Failure(refused, "there is no host " + escape_text(name) + " in the fleet" +
                             core::near_hint(name, {names.begin(), names.end()}));
}

void FleetAccess::add_runs(verbs::RunMatches& matches) {
  FleetCommand order;
  order.kind = FleetCommandKind::runs;
  order.run = matches.start();
  try {
    matches.add(send(std::move(order)));
  } catch (const Failure&) {
  }
}

FleetCommandResult FleetAccess::send(FleetCommand order) {
  order.by = operator_name();
  if (uses_w8yd()) return send_by_w8yd(order);
  FleetCommandResult outcome = channel().send(std::move(order));
  if (!outcome.error.empty()) fail(outcome.unreachable, outcome.error);
  return outcome;
}

FleetCommandResult FleetAccess::send_by_w8yd(const FleetCommand& order) {
  const http::Endpoint& endpoint = api::endpoints::of(order.kind);
  if (order.kind == FleetCommandKind::logs || order.kind == FleetCommandKind::runs)
    return read_outcome(context_.host().request(endpoint.target(
        {}, {{"run", if_any(order.run)},
             {"host", if_any(order.kind == FleetCommandKind::runs ? order.host : "")},
             {"list", order.list}})));
  core::AsciiObject body(256);
  body.put_bytes("by", order.by);
  if (order.kind == FleetCommandKind::run) {
    body.put_bytes("list", order.list.value_or(std::string()));
    body.put_bytes("item", order.item);
  }
  if (!order.run.empty()) body.put_bytes("run", order.run);
  return read_outcome(context_.host().send_command(
      endpoint.target(
          {}, {{"host", if_any(order.host)}, {"all", if_any(order.host.empty() ? "yes" : "")}}),
      body.finish()));
}

std::unique_ptr<verbs::LogFollower> FleetAccess::follow(verbs::LogFollower::Filter wish,
                                                        verbs::LogFollower::Handler& handler) {
  return channel().follow(std::move(wish), handler);
}

int print_fleet_result(const Options& options, const FleetCommandResult& outcome) {
  const int status = outcome.complete() ? done : refused;
  if (options.json) {
    print_json(command_text(outcome));
    return status;
  }
  for (const FleetReply& host : outcome.replies) {
    std::cout << escape_text(host.host) << ": " << (host.good() ? "" : "refused: ")
              << escape(host.text) << '\n';
    for (const std::string& line : host.lines) std::cout << "  " << escape(line) << '\n';
  }
  for (const FleetCommandResult::NoReply& host : outcome.no_reply) {
    std::cout << escape_text(host.host) << ": no reply within 2s";
    if (host.unresponsive)
      std::cout << "; unresponsive since " << time_text(host.last_heartbeat) << ", for "
                << rough_duration(outcome.now - host.last_heartbeat);
    std::cout << '\n';
  }
  return status;
}

}  // namespace w8y::ctl
