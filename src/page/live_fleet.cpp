#include "page/live_fleet.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/json_object.hpp"
#include "core/number.hpp"
#include "core/runs_per_minute.hpp"
#include "loop/loop.hpp"
#include "view/host_view.hpp"

namespace w8y::page {

namespace {

/// Maximum size of the list of hosts that a page receives, in bytes.
constexpr std::size_t max_glance = std::size_t{128} << 10;

constexpr Duration poll_interval = std::chrono::seconds(2);
/// Intervals, in polls, of the queries for the active runs and for the run counts of other hosts.
constexpr std::size_t runs_every = 2;
constexpr std::size_t minutes_every = 5;
/// Limits for all hosts together: lists of other hosts, and bytes of their lists and minutes.
constexpr std::size_t max_rows = 50'000;
constexpr std::size_t max_bytes = std::size_t{32} << 20;
/// Number of hosts in one query for details.
constexpr std::size_t hosts_at_once = 16;
constexpr std::size_t max_runs = 50;

/// `members`: text of JSON members.
std::string remote_json(const std::string& id, const std::string& members) {
  return "{\"host_id\":" + core::json_string(id) + "," + members + "}";
}

std::string no_addition(const std::string&) {
  return {};
}

}  // namespace

LiveFleet::LiveFleet(loop::Loop& loop, api::FleetControl& fleet, std::function<void()> changed)
    : loop_(loop), fleet_(fleet), notify_(std::move(changed)), poll_(loop.timers()) {}

void LiveFleet::start(std::string own) {
  own_ = std::move(own);
  alive_ = std::make_shared<bool>(true);
  polls_ = 0;
  poll();
}

void LiveFleet::stop() {
  alive_.reset();
  poll_.cancel();
  remotes_.clear();
  wishes_.clear();
  hosts_.clear();
  hosts_changed_ = false;
}

void LiveFleet::poll() {
  fleet_.read([this, alive = std::weak_ptr<bool>(alive_)](api::FleetGlance&& glance) {
    if (!alive.expired()) seen(std::move(glance));
  });
}

void LiveFleet::poll_again() {
  poll_.set(loop_.now() + poll_interval, [this] { poll(); });
}

void LiveFleet::seen(api::FleetGlance&& glance) {
  ++polls_;
  if (glance.text != hosts_) {
    hosts_ = std::move(glance.text);
    hosts_changed_ = true;
  }
  if (hosts_changed_) notify_();
  if (!glance.error.empty()) {
    remotes_.clear();  // as pages do; the complete state is sent again
    return poll_again();
  }
  std::erase_if(remotes_, [&](const auto& remote) {
    return std::ranges::none_of(glance.hosts,
                                [&](const auto& host) { return host.id == remote.first; });
  });
  versions_.clear();
  const bool minutes_due = polls_ % minutes_every == 1;
  for (const api::FleetGlance::Host& host : glance.hosts) {
    if (host.id == own_ || !host.readable) continue;
    const Remote& remote = remotes_[host.id];
    const bool rows = !remote.known || remote.version != host.lists_version;
    // A host that is new here sends the whole hour.
    const std::int64_t minutes = !remote.known ? RunsPerMinute::length : minutes_due ? 2 : 0;
    versions_[host.id] = host.lists_version;
    if (rows || minutes > 0) wishes_.push_back({host.id, rows, minutes});
  }
  if (polls_ % runs_every == 1) query_runs(glance);
  query_details();
}

/// Queries the details of the next hosts, one query at a time. The next poll follows the last
/// query.
void LiveFleet::query_details() {
  if (wishes_.empty()) return poll_again();
  const auto end =
      wishes_.begin() + static_cast<std::ptrdiff_t>(std::min(wishes_.size(), hosts_at_once));
  fleet_.details({wishes_.begin(), end}, [this, alive = std::weak_ptr<bool>(alive_)](
                                             std::vector<view::HostDetails>&& hosts) {
    if (!alive.expired()) handle_details(std::move(hosts));
  });
}

void LiveFleet::handle_details(std::vector<view::HostDetails>&& hosts) {
  if (hosts.empty()) wishes_.clear();  // the next poll reports the error
  for (view::HostDetails& host : hosts) {
    const bool rows = wishes_.front().rows;
    wishes_.pop_front();
    const auto found = remotes_.find(host.id);
    if (found == remotes_.end()) continue;
    if (rows) handle_rows(found->second, host);
    handle_minutes(found->second, host);
  }
  if (changed()) notify_();
  query_details();
}

LiveFleet::Room LiveFleet::room() const {
  Room kept;
  for (const auto& [id, remote] : remotes_) {
    kept.rows += remote.rows.size();
    kept.bytes += remote.rows_bytes + remote.minutes_bytes;
  }
  return {max_rows - std::min(max_rows, kept.rows), max_bytes - std::min(max_bytes, kept.bytes)};
}

/// Stores the rows of a host. If they do not fit into the limits, the host shows no lists.
void LiveFleet::handle_rows(Remote& remote, const view::HostDetails& host) {
  remote.known = true;
  remote.version = versions_[host.id];
  const Room room = this->room();
  std::size_t bytes = 0;
  for (const auto& [prefix, row] : host.rows) bytes += prefix.size() + row.size();
  const bool fits =
      host.rows.size() <= room.rows + remote.rows.size() && bytes <= room.bytes + remote.rows_bytes;
  remote.rows_bytes = fits ? bytes : 0;
  remote.rows.start_iteration();
  for (const auto& [prefix, row] : host.rows)
    if (fits) remote.rows.record(prefix, row);
  remote.rows.end_look();
}

void LiveFleet::handle_minutes(Remote& remote, view::HostDetails& host) {
  std::size_t room = this->room().bytes;
  for (auto& [number, text] : host.minutes) {
    const auto found = remote.minutes.find(number);
    if (found != remote.minutes.end() && found->second == text) continue;
    if (text.size() > room) continue;
    room -= text.size();
    if (found != remote.minutes.end()) remote.minutes_bytes -= found->second.size();
    remote.minutes_bytes += text.size();
    remote.minutes[number] = std::move(text);
    remote.minutes_changed.push_back(number);
  }
  while (remote.minutes.size() > static_cast<std::size_t>(RunsPerMinute::length)) {
    remote.minutes_bytes -= remote.minutes.begin()->second.size();
    remote.minutes.erase(remote.minutes.begin());
  }
}

/// Queries the active runs, if other hosts have slots in use or had active runs before.
void LiveFleet::query_runs(const api::FleetGlance& glance) {
  const bool any = std::ranges::any_of(glance.hosts, [this](const api::FleetGlance::Host& host) {
    if (host.id == own_ || host.silent) return false;
    const auto remote = remotes_.find(host.id);
    return host.slots_used > 0 || (remote != remotes_.end() && remote->second.runs != "[]");
  });
  if (!any) return;
  fleet_.send({}, [this, alive = std::weak_ptr<bool>(alive_)](const FleetCommandResult& outcome) {
    if (!alive.expired()) handle_runs(outcome);
  });
}

void LiveFleet::handle_runs(const FleetCommandResult& outcome) {
  for (const FleetReply& answer : outcome.replies) {
    const auto found = remotes_.find(answer.host_id);
    if (found == remotes_.end()) continue;
    const std::span shown(answer.runs.data(), std::min(answer.runs.size(), max_runs));
    std::string runs = core::json_array(shown, [](const auto& run) { return view::to_json(run); });
    if (runs == found->second.runs) continue;
    found->second.runs = std::move(runs);
    found->second.runs_changed = true;
  }
  if (changed()) notify_();
}

bool LiveFleet::changed() const {
  return hosts_changed_ || std::ranges::any_of(remotes_, [](const auto& each) {
           const Remote& remote = each.second;
           return remote.runs_changed || !remote.minutes_changed.empty() || remote.rows.changed();
         });
}

std::string LiveFleet::hosts() const {
  return hosts_.empty() ? std::string() : "\"fleet\":" + hosts_;
}

std::string LiveFleet::drain_changes(std::size_t most) {
  // Hosts and details are sent separately: together they could exceed the limit of a stream.
  if (std::exchange(hosts_changed_, false)) return hosts();
  std::string all;
  for (auto& [id, remote] : remotes_) {
    if (all.size() > most) break;
    std::string one = remote.rows.drain_changes(most, no_addition);
    if (std::exchange(remote.runs_changed, false))
      one.append(one.empty() ? "" : ",").append("\"runs\":" + remote.runs);
    std::string minutes;
    auto& due = remote.minutes_changed;
    for (; !due.empty() && minutes.size() < most; due.pop_front())
      if (const auto told = remote.minutes.find(due.front()); told != remote.minutes.end())
        minutes.append(minutes.empty() ? "" : ",").append(told->second);
    if (!minutes.empty())
      one.append(one.empty() ? "" : ",").append("\"minutes\":[" + minutes + "]");
    if (one.empty()) continue;
    all.append(all.empty() ? "" : ",").append(remote_json(id, one));
  }
  return all.empty() ? all : "\"remote\":[" + all + "]";
}

std::string LiveFleet::part(Cursor& at, std::size_t most) const {
  auto found = at.started ? remotes_.lower_bound(at.host) : remotes_.begin();
  // If the host of the cursor was removed, the next host follows: a change reports the removal.
  const auto is_over = [&at](const Remote& remote) {
    return at.row >= remote.rows.size() &&
           (remote.minutes.empty() || remote.minutes.rbegin()->first <= at.minute);
  };
  if (at.started && found != remotes_.end() && found->first == at.host && is_over(found->second))
    ++found;
  if (found == remotes_.end()) return {};
  const bool first = !at.started || found->first != at.host;
  if (first) at = {found->first, 0, 0, true};
  const Remote& remote = found->second;
  std::string one = first ? "\"runs\":" + remote.runs + "," : "";
  if (first || at.row < remote.rows.size()) {
    one += "\"lists\":[" + remote.rows.part(at.row, most, no_addition) + "]";
  } else {  // after the lists, so that the client knows the lists of the minutes
    std::string minutes;
    for (auto each = remote.minutes.upper_bound(at.minute);
         each != remote.minutes.end() && minutes.size() < most; ++each) {
      minutes.append(minutes.empty() ? "" : ",").append(each->second);
      at.minute = each->first;
    }
    one += "\"minutes\":[" + minutes + "]";
  }
  return "\"remote\":[" + remote_json(at.host, one) + "]";
}

api::FleetGlance glance_of(const FleetView& fleet) {
  api::FleetGlance glance;
  glance.error = fleet.error;
  std::string hosts;
  for (const FleetHost& host : fleet.hosts) {
    core::AsciiObject object(512);
    view::put_host(object, host);
    const std::string text = object.finish();
    if (hosts.size() + text.size() > max_glance) break;
    hosts.append(hosts.empty() ? "" : ",").append(text);
    glance.hosts.push_back({host.heartbeat.id, host.heartbeat.lists_version,
                            host.heartbeat.slots_used, host.unresponsive, host.error.empty()});
  }
  core::AsciiObject json(hosts.size() + 512);
  json.put("latest_config_hash", fleet.latest_config_hash);
  json.put("truncated", fleet.truncated);
  json.put_bytes("fleet", fleet.fleet);
  const std::size_t more = fleet.hosts.size() - glance.hosts.size();
  json.put("more_hosts", more);
  json.put("error", fleet.error.empty() && more > 0
                        ? std::to_string(more) + " more hosts are not shown; see w8yctl fleet"
                        : fleet.error);
  json.put_json("hosts", "[" + hosts + "]");
  glance.text = json.finish();
  return glance;
}

}  // namespace w8y::page
