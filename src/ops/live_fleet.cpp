#include "ops/live_fleet.hpp"

#include <algorithm>
#include <utility>

#include <w8y/hour.hpp>
#include <w8y/number.hpp>

#include "core/json_object.hpp"
#include "loop/loop.hpp"
#include "ops/fleet_json.hpp"
#include "ops/status_json.hpp"

namespace w8y::ops {

namespace {

constexpr Duration poll_interval = std::chrono::seconds(2);
/// Every so many polls: what other hosts run, and how many runs they had.
constexpr std::size_t runs_every = 2;
constexpr std::size_t minutes_every = 5;
/// Lists of other hosts that are kept, in all.
constexpr std::size_t most_rows = 50'000;
constexpr std::size_t most_runs = 50;

std::string row_of(const ListBeat& list) {
  core::JsonObject json(128);
  json.put_bytes("list", list.prefix);
  json.put("state", list.state);
  if (!list.why.empty()) json.put("why", list.why);
  json.put("running", static_cast<std::int64_t>(list.running));
  json.put("concurrency", static_cast<std::int64_t>(list.concurrency));
  return json.take();
}

std::string no_addition(const std::string&) {
  return {};
}

std::string json_string(const std::string& text) {
  return dump(Json(text));
}

}  // namespace

LiveFleet::LiveFleet(loop::Loop& loop, FleetPort& fleet, std::function<void()> changed)
    : loop_(loop), fleet_(fleet), tell_(std::move(changed)), poll_(loop.timers()) {}

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
  hosts_.clear();
  hosts_changed_ = minutes_known_ = false;
}

void LiveFleet::poll() {
  fleet_.look(false, [this, alive = std::weak_ptr<bool>(alive_)](const FleetView& view) {
    if (!alive.expired()) seen(view);
  });
}

void LiveFleet::poll_again() {
  poll_.set(loop_.now() + poll_interval, [this] { poll(); });
}

void LiveFleet::seen(const FleetView& view) {
  ++polls_;
  std::string hosts = to_text(view, false);
  hosts.pop_back();  // its }
  hosts += ",\"trouble\":" + json_string(view.trouble) + "}";
  // The time is told with everything.
  const auto from = hosts.find(",\"newest_hash\"");
  hosts = "{" + hosts.substr(from == std::string::npos ? 1 : from + 1);
  if (hosts != hosts_) {
    hosts_ = std::move(hosts);
    hosts_changed_ = true;
  }
  if (!view.trouble.empty()) {
    if (hosts_changed_) tell_();
    return poll_again();
  }
  bool read_lists = false;
  std::erase_if(remotes_, [&](const auto& remote) {
    return std::ranges::none_of(
        view.hosts, [&](const FleetHost& host) { return host.beat.id == remote.first; });
  });
  for (const FleetHost& host : view.hosts) {
    if (host.beat.id == own_ || !host.trouble.empty()) continue;
    const Remote& remote = remotes_[host.beat.id];
    if (!remote.known || remote.version != host.beat.lists_version) read_lists = true;
  }
  if (polls_ % runs_every == 1) ask_runs(view);
  if (!remotes_.empty() && polls_ % minutes_every == 1) ask_minutes();
  if (hosts_changed_) tell_();
  if (!read_lists) return poll_again();
  fleet_.look(true, [this, alive = std::weak_ptr<bool>(alive_)](const FleetView& with_lists) {
    if (alive.expired()) return;
    seen_lists(with_lists);
    poll_again();
  });
}

void LiveFleet::seen_lists(const FleetView& view) {
  if (!view.trouble.empty()) return;
  std::size_t rows = 0;
  for (const FleetHost& host : view.hosts) {
    if (host.beat.id == own_ || !host.trouble.empty()) continue;
    rows += host.lists.size();
    if (rows > most_rows) break;
    Remote& remote = remotes_[host.beat.id];
    remote.known = true;
    remote.version = host.beat.lists_version;
    remote.rows.begin_look();
    for (const ListBeat& list : host.lists) remote.rows.note(list.prefix, row_of(list));
    remote.rows.end_look();
  }
  if (changed()) tell_();
}

/// Only where others say that they run something, or have said so.
void LiveFleet::ask_runs(const FleetView& view) {
  const bool any = std::ranges::any_of(view.hosts, [this](const FleetHost& host) {
    if (host.beat.id == own_ || host.silent) return false;
    const auto remote = remotes_.find(host.beat.id);
    return host.beat.slots_used > 0 || (remote != remotes_.end() && remote->second.runs != "[]");
  });
  if (!any) return;
  fleet_.give({}, [this, alive = std::weak_ptr<bool>(alive_)](const FleetOutcome& outcome) {
    if (!alive.expired()) take_runs(outcome);
  });
}

void LiveFleet::take_runs(const FleetOutcome& outcome) {
  for (const FleetAnswer& answer : outcome.answers) {
    const auto found = remotes_.find(answer.host_id);
    if (found == remotes_.end()) continue;
    std::string runs = "[";
    for (std::size_t i = 0; i < std::min(answer.runs.size(), most_runs); ++i)
      runs.append(i > 0 ? "," : "").append(answer.runs[i]);
    runs += ']';
    if (runs == found->second.runs) continue;
    found->second.runs = std::move(runs);
    found->second.runs_changed = true;
  }
  if (changed()) tell_();
}

void LiveFleet::ask_minutes() {
  std::vector<std::string> ids;
  for (const auto& [id, remote] : remotes_) ids.push_back(id);
  // Of a host that is new here, the whole hour.
  const bool all = std::exchange(minutes_known_, true);
  fleet_.minutes(
      std::move(ids), all ? 2 : Hour::length,
      [this, alive = std::weak_ptr<bool>(alive_)](const std::vector<HostMinutes>& hosts) {
        if (!alive.expired()) take_minutes(hosts);
      });
}

void LiveFleet::take_minutes(const std::vector<HostMinutes>& hosts) {
  for (const HostMinutes& host : hosts) {
    const auto found = remotes_.find(host.id);
    if (found == remotes_.end()) continue;
    Remote& remote = found->second;
    for (const std::string& text : host.minutes) {
      const auto json = parse(text);
      if (!json || !json->is_object() || !json->contains("minute")) continue;
      const auto minute = read_integer((*json)["minute"], ms_range);
      if (!minute) continue;
      std::string told = dump(*json);
      if (remote.minutes[*minute] == told) continue;
      remote.minutes[*minute] = std::move(told);
      remote.minutes_changed.push_back(*minute);
    }
    while (remote.minutes.size() > static_cast<std::size_t>(Hour::length))
      remote.minutes.erase(remote.minutes.begin());
  }
  if (changed()) tell_();
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

std::string LiveFleet::take_changes(std::size_t most) {
  std::string text;
  if (std::exchange(hosts_changed_, false)) text = hosts();
  std::string all;
  for (auto& [id, remote] : remotes_) {
    if (all.size() > most) break;
    std::string one = remote.rows.take_changes(most, no_addition);
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
    all.append(all.empty() ? "" : ",").append("{\"host_id\":" + json_string(id) + "," + one + "}");
  }
  if (!all.empty()) text.append(text.empty() ? "" : ",").append("\"remote\":[" + all + "]");
  return text;
}

std::string LiveFleet::part(Cursor& at, std::size_t most) const {
  auto found = at.begun ? remotes_.lower_bound(at.host) : remotes_.begin();
  // A host that is gone meanwhile was told to be.
  const auto is_over = [&at](const Remote& remote) {
    return at.row >= remote.rows.size() &&
           (remote.minutes.empty() || remote.minutes.rbegin()->first <= at.minute);
  };
  if (at.begun && found != remotes_.end() && found->first == at.host && is_over(found->second))
    ++found;
  if (found == remotes_.end()) return {};
  const bool first = !at.begun || found->first != at.host;
  if (first) at = {found->first, 0, 0, true};
  const Remote& remote = found->second;
  std::string one = first ? "\"runs\":" + remote.runs + "," : "";
  if (first || at.row < remote.rows.size()) {
    one += "\"lists\":[" + remote.rows.part(at.row, most, no_addition) + "]";
  } else {  // of lists that are known by now
    std::string minutes;
    for (auto each = remote.minutes.upper_bound(at.minute);
         each != remote.minutes.end() && minutes.size() < most; ++each) {
      minutes.append(minutes.empty() ? "" : ",").append(each->second);
      at.minute = each->first;
    }
    one += "\"minutes\":[" + minutes + "]";
  }
  return "\"remote\":[{\"host_id\":" + json_string(at.host) + "," + one + "}]";
}

}  // namespace w8y::ops
