#include "view/fleet.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "core/escape.hpp"
#include "view/list_view.hpp"

namespace w8y {

namespace {

/// Time from the first change to the heartbeat, and minimum time between two heartbeats.
constexpr Duration gathering = std::chrono::milliseconds(50);
constexpr Duration min_gap = std::chrono::milliseconds(500);
/// Pause after the second and each further refusal.
constexpr Duration refused_pause = std::chrono::seconds(60);
/// Pause after the first refusal: permissions may be missing for a moment, while an operator
/// changes them.
constexpr Duration second_look = std::chrono::seconds(3);
constexpr std::size_t random_digits = 8;

}  // namespace

// ---- list reports

void ListReportTracker::record(const ListStatus& list) {
  std::string text = view::to_json(list, view::report);
  const std::size_t lively = std::hash<std::string>()(text);
  Report& told = lists_[list.prefix];
  const bool is_new = !std::exchange(told.known, true) || told.gone;
  told.iteration = iteration_;
  told.gone = false;
  if (!is_new && lively == told.lively) return;
  const std::size_t hash = view::settled_hash(list);
  set_due(told, std::move(text), is_new || hash != told.settled);
  told.settled = hash;
  told.lively = lively;
}

void ListReportTracker::set_due(Report& list, std::string text, bool urgent) {
  list.due = std::move(text);
  if (urgent && !list.urgent) ++urgent_;
  list.urgent = list.urgent || urgent;
}

void ListReportTracker::end() {
  for (auto& [prefix, list] : lists_) {
    if (list.iteration == iteration_ || list.gone) continue;
    list.gone = true;
    set_due(list, {}, true);
  }
}

std::vector<ListReportTracker::Change> ListReportTracker::drain(std::size_t most, bool lively) {
  std::vector<Change> changes;
  auto at = lists_.lower_bound(next_);
  for (std::size_t looked = lists_.size(); looked > 0 && changes.size() < most; --looked) {
    if (at == lists_.end()) at = lists_.begin();
    auto& [prefix, list] = *at;
    const bool due = list.urgent || (lively && !list.due.empty());
    if (due) {
      if (list.urgent) --urgent_;
      list.urgent = false;
      changes.push_back({prefix, std::exchange(list.due, {})});
    }
    at = due && list.gone ? lists_.erase(at) : std::next(at);
  }
  next_ = at == lists_.end() ? std::string() : at->first;
  return changes;
}

void ListReportTracker::forget() {
  lists_.clear();
  next_.clear();
  urgent_ = 0;
}

// ---- time of the next heartbeat

void HeartbeatTimer::on_request(Instant now) {
  const Instant soon = std::max(now + gathering, started_ + min_gap);
  if (out_) {
    requested_ = true;
  } else {
    due_ = std::min(due_, soon);
  }
}

void HeartbeatTimer::started(Instant now) {
  out_ = true;
  requested_ = false;
  started_ = now;
}

void HeartbeatTimer::on_reply(bool refused) {
  out_ = false;
  const bool soon = std::exchange(requested_, false) && !refused;
  refusals_ = refused ? refusals_ + 1 : 0;
  const Duration pause = refusals_ == 0   ? (soon ? min_gap : heartbeat_interval)
                         : refusals_ == 1 ? second_look
                                          : refused_pause;
  due_ = started_ + pause;
}

std::optional<Instant> HeartbeatTimer::due() const {
  return connected_ && !out_ ? std::optional(due_) : std::nullopt;
}

/// The time is assumed to be from the middle between request and reply.
void RedisClock::record(WallTime time, Instant asked, Instant answered) {
  if (known_ && answered - asked > max_trip) return;
  known_ = true;
  time_ = time;
  error_ = (answered - asked) / 2;
  when_ = asked + error_;
}

WallTime RedisClock::at(Instant when) const {
  return time_ + std::chrono::duration_cast<WallTime>(when - when_);
}

// ---- the fleet

const char* FleetHost::state() const {
  if (unresponsive) return "unresponsive";
  return error.empty() ? heartbeat.state.c_str() : "unknown";
}

void truncate_lists(FleetHost& host) {
  host.lists_truncated = true;
  host.lists_error = "it has more lists than are shown";
}

std::string format_conflict(const FleetView& view, const HostHeartbeat* own) {
  for (const FleetHost& host : view.hosts) {
    const HostHeartbeat& other = host.heartbeat;
    if (host.unresponsive || !host.error.empty() || other.format == fleet_format) continue;
    if (own == nullptr || std::tie(other.started, other.id) < std::tie(own->started, own->id))
      return "host " + escape_text(other.host) + " uses fleet format " +
             std::to_string(other.format) +
             (other.format < fleet_format ? "; stop or upgrade it"
                                          : "; stop it, or upgrade this host");
  }
  return {};
}

std::string name_in_host_id(std::string_view id) {
  const auto dash = id.rfind('-');
  const bool random = dash != std::string_view::npos && id.size() - dash - 1 == random_digits;
  return std::string(id.substr(0, random && dash > 0 ? dash : id.size()));
}

namespace {

/// Removes hosts that have died and returned with a new ID. Of hosts that died under one name, only
/// the last stays.
void remove_returned(FleetView& view) {
  std::map<std::string, WallTime> last;  // by name: last heartbeat
  for (const FleetHost& host : view.hosts) {
    WallTime& newest = last[host.heartbeat.host];
    newest = std::max(newest, host.last_heartbeat);
  }
  std::erase_if(view.hosts, [&last](const FleetHost& host) {
    return host.expired && host.last_heartbeat < last[host.heartbeat.host];
  });
}

/// Marks duplicate names. A name that is used again after its host was killed is not a duplicate: a
/// host without a heartbeat since the start of the other host is unresponsive.
void classify_names(FleetView& view) {
  std::map<std::string_view, std::vector<FleetHost*>> names;
  for (FleetHost& host : view.hosts)
    if (host.error.empty() && !host.unresponsive) names[host.heartbeat.host].push_back(&host);
  for (const auto& [name, hosts] : names) {
    // Each host is compared only with the newest start; the newest host is compared with the second
    // newest start. This stays cheap with 10,000 forged hosts of one name.
    WallTime newest{0};
    WallTime before{0};
    for (const FleetHost* host : hosts) {
      before = std::max(before, std::min(newest, host->heartbeat.started));
      newest = std::max(newest, host->heartbeat.started);
    }
    for (FleetHost* host : hosts)
      host->unresponsive =
          (host->heartbeat.started == newest ? before : newest) > host->last_heartbeat;
    const auto there = std::count_if(hosts.begin(), hosts.end(),
                                     [](const FleetHost* host) { return !host->unresponsive; });
    for (FleetHost* host : hosts) host->duplicate_name = !host->unresponsive && there > 1;
  }
}

/// Removes hosts that were killed and started again: they have sent no heartbeat since a live host
/// of their name started.
void remove_replaced(FleetView& view) {
  std::map<std::string, WallTime> started;  // by name: newest start of a live host
  for (const FleetHost& host : view.hosts) {
    if (!host.error.empty() || host.unresponsive) continue;
    WallTime& newest = started[host.heartbeat.host];
    newest = std::max(newest, host.heartbeat.started);
  }
  std::erase_if(view.hosts, [&started](const FleetHost& host) {
    const auto found = started.find(host.heartbeat.host);
    return host.unresponsive && found != started.end() && host.last_heartbeat < found->second;
  });
}

}  // namespace

void classify(FleetView& view) {
  remove_returned(view);
  for (FleetHost& host : view.hosts) {
    host.unresponsive = host.last_heartbeat + unresponsive_after <= view.now;
    host.late = host.last_heartbeat + late_after <= view.now;
  }
  classify_names(view);
  remove_replaced(view);
  const FleetHost* newest = nullptr;
  for (const FleetHost& host : view.hosts) {
    if (!host.error.empty()) continue;
    const bool counts =
        host.heartbeat.generation > 0 && host.heartbeat.applied + outdated_after <= view.now;
    if (counts && (newest == nullptr || newest->heartbeat.applied < host.heartbeat.applied))
      newest = &host;
  }
  for (FleetHost& host : view.hosts) {
    if (!host.error.empty()) continue;
    host.config_outdated = newest != nullptr && host.heartbeat.generation > 0 &&
                           host.heartbeat.config_hash != newest->heartbeat.config_hash &&
                           host.heartbeat.applied < newest->heartbeat.applied;
    if (host.config_outdated) view.latest_config_hash = newest->heartbeat.config_hash;
  }
  // Sorts pointers instead of hosts, which are ten times as large.
  std::vector<FleetHost*> order;
  order.reserve(view.hosts.size());
  for (FleetHost& host : view.hosts) order.push_back(&host);
  std::sort(order.begin(), order.end(), [](const FleetHost* a, const FleetHost* b) {
    return std::tie(a->heartbeat.host, a->heartbeat.started, a->heartbeat.id) <
           std::tie(b->heartbeat.host, b->heartbeat.started, b->heartbeat.id);
  });
  std::vector<FleetHost> sorted;
  sorted.reserve(order.size());
  for (FleetHost* host : order) sorted.push_back(std::move(*host));
  view.hosts = std::move(sorted);
}

}  // namespace w8y
