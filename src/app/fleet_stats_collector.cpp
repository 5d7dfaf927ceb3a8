#include "app/fleet_stats_collector.hpp"

#include <algorithm>
#include <utility>

#include "operator/fleet.hpp"
#include "view/fleet_lists.hpp"
#include "view/list_view.hpp"

namespace w8y::app {

namespace {

/// Interval of checks whether there is work; most of the time there is none.
constexpr Duration check_interval = std::chrono::seconds(2);
/// Delay after due statistics for hosts that were not the last collector, and a random delay in
/// addition.
constexpr Duration after_asker = std::chrono::milliseconds(400);
constexpr Duration spread = std::chrono::milliseconds(1200);
/// The collector includes lists whose statistics are due this soon, so that more lists are
/// collected together.
constexpr Duration included_age = std::chrono::seconds(3);
/// Retry delay while another host is the collector. It doubles each time, at most `max_in_vain`
/// times.
constexpr Duration first_timeout = std::chrono::milliseconds(700);
constexpr unsigned max_in_vain = 4;
/// Interval in which the list reports of hosts are read, to count their slots.
constexpr Duration places_interval = std::chrono::seconds(30);
/// Approximate number of bytes of list reports that one step reads.
constexpr std::size_t places_at_once = std::size_t{4} << 20;
/// Age after which the statistics of a list are removed, because no host has the list any more.
constexpr Duration field_life = std::chrono::minutes(10);
/// Maximum number of lists whose statistics are published together.
constexpr std::size_t max_unwritten = 64;
constexpr Duration prolong_after = std::chrono::seconds(4);

/// Returns whether statistics are needed before the first run: a schedule whose jobs are all BAD
/// has no runs.
bool is_watched(const ListConfig& rule) {
  return rule.traits().is_due_by_time || rule.overdue_after() > Duration{0};
}

/// Keeps the counts of the previous collector until this host has examined all jobs of a schedule
/// once.
void keep_counts(ListStats& stats, const ListStats& before) {
  for (auto& [state, count] : stats.items)
    for (const auto& [known, items] : before.items)
      if (state == known && (state == "bad" || state == "died")) count = std::max(count, items);
}

}  // namespace

FleetStatsCollector::FleetStatsCollector(Parts parts, const std::string& fleet)
    : parts_(std::move(parts)),
      shared_(
          parts_.member.client(), parts_.session->subscriber, fleet, parts_.member.id(),
          [this](const std::string& name, const std::string& text) { on_published(name, text); }),
      measuring_(parts_.loop, parts_.session, parts_.cluster,
                 [this](const ListConfigPtr& rule, const std::optional<ListStats>& stats) {
                   on_measured(rule, stats);
                 }),
      next_(parts_.loop.timers()),
      spread_(Duration(
          static_cast<Duration::rep>(parts_.seed % static_cast<std::uint64_t>(spread.count())))) {
  parts_.known.forget();
  next_.set(parts_.loop.now() + check_interval, [this] { check(); });
}

FleetStatsCollector::~FleetStatsCollector() {
  if (measuring_.busy() && parts_.accepted) shared_.release_lock();
}

WallTime FleetStatsCollector::redis_now() const {
  return parts_.member.time().at(parts_.loop.now());
}

// ---- published statistics

void FleetStatsCollector::check() {
  next_.set(parts_.loop.now() + check_interval, [this] { check(); });
  check_overdue();
  if (reading_ || measuring_.busy() || !parts_.member.client().connected() ||
      !parts_.member.time().known())
    return;
  if (parts_.loop.now() < read_at_ && (failed_locks_ > 0 || !has_unknown_list())) return;
  // A host that may not use the keys of the fleet collects statistics for itself only.
  if (!parts_.accepted) return handle_read({}, 1);
  shared_.listen();
  reading_ = true;
  shared_.read([this](bool ok, store::FleetStats::Fields&& fields, std::size_t commands) {
    reading_ = false;
    handle_read(ok ? std::move(fields) : store::FleetStats::Fields(), commands);
  });
}

/// Returns whether the statistics of an active list are not known yet.
bool FleetStatsCollector::has_unknown_list() const {
  const auto lists = active_lists();
  return std::any_of(lists.begin(), lists.end(), [this](const ListConfigPtr& rule) {
    return parts_.known.find(rule->prefix) == nullptr && is_due(rule, {});
  });
}

void FleetStatsCollector::handle_read(store::FleetStats::Fields&& fields, std::size_t commands) {
  const WallTime now = redis_now();
  for (const auto& [name, text] : fields) handle_field(name, text, now);
  check_overdue();
  commands_ = static_cast<int>(std::clamp<std::size_t>(commands, 1, 100));
  if (due({}).empty() && !counts_due()) {
    failed_locks_ = 0;
    return wait();
  }
  if (!parts_.accepted) return collect();
  shared_.acquire_lock([this, old = std::move(fields)](bool taken) {
    was_collector_ = taken;
    if (taken) {
      failed_locks_ = 0;
      std::vector<std::string> gone;
      for (const auto& [name, text] : old) {
        const auto stats = parse_list_stats(text);
        if (name.starts_with(store::FleetStats::list_field) &&
            (!stats || stats->at + field_life < redis_now()))
          gone.push_back(name);
      }
      shared_.remove(gone);
      return collect();
    }
    read_at_ = parts_.loop.now() + first_timeout * (1 << failed_locks_) + spread_ / 4;
    failed_locks_ = std::min(failed_locks_ + 1, max_in_vain);
    next_.set(read_at_, [this] { check(); });
  });
}

void FleetStatsCollector::handle_field(const std::string& name, const std::string& text,
                                       WallTime now) {
  const std::string_view tag = store::FleetStats::list_field;
  if (name == store::FleetStats::fleet_field) {
    const auto counts = parse_fleet_counts(text);
    if (counts && counts->at <= now + std::chrono::minutes(1)) parts_.known.record(*counts);
    return;
  }
  if (!name.starts_with(tag)) return;
  const std::string prefix = name.substr(tag.size());
  if (!parts_.supervisor.lists().contains(prefix)) return;
  const auto stats = parse_list_stats(text);
  if (!stats || stats->at > now + std::chrono::minutes(1)) return;
  parts_.known.record(prefix, *stats, std::max<Duration>(Duration{0}, now - stats->at));
}

/// Waits until the first statistics are due; then the last collector is the first to try. A host
/// that only reads sends one command per period, however many lists there are.
void FleetStatsCollector::wait() {
  Instant due_at = parts_.loop.now() + stats_period;
  for (const ListConfigPtr& rule : active_lists()) {
    const auto age = parts_.known.age(rule->prefix);
    const ListStats* stats = parts_.known.find(rule->prefix);
    if (!age || stats == nullptr) continue;
    due_at = std::min(due_at, parts_.loop.now() + std::max(Duration{0}, period_of(*stats) - *age));
  }
  read_at_ = std::max(due_at, parts_.loop.now() + check_interval) +
             (was_collector_ ? Duration{0} : after_asker + spread_) +
             stats_period * (commands_ - 1);
  next_.set(std::min(read_at_, parts_.loop.now() + check_interval), [this] { check(); });
}

// ---- due statistics

/// Returns the enabled lists that have had a run on this host or are watched.
std::vector<ListConfigPtr> FleetStatsCollector::active_lists() const {
  const bool watched = watches().any;
  std::vector<ListConfigPtr> lists;
  for (const auto& [prefix, list] : parts_.supervisor.lists())
    // Most lists have had no run, and their configs are not read for that.
    if ((list->has_run() || (watched && is_watched(list->config()))) && list->config().enabled)
      lists.push_back(list->shared_config());
  return lists;
}

bool FleetStatsCollector::is_due(const ListConfigPtr& rule, Duration before) const {
  const auto refused = refused_until_.find(rule->prefix);
  if (refused != refused_until_.end() && parts_.loop.now() < refused->second) return false;
  const ListStats* stats = parts_.known.find(rule->prefix);
  const auto age = parts_.known.age(rule->prefix);
  return stats == nullptr || !age || *age + before >= period_of(*stats);
}

std::vector<ListConfigPtr> FleetStatsCollector::due(Duration before) const {
  std::vector<ListConfigPtr> lists = active_lists();
  std::erase_if(lists, [&](const ListConfigPtr& rule) { return !is_due(rule, before); });
  return lists;
}

bool FleetStatsCollector::counts_due() const {
  if (!parts_.accepted) return false;
  const auto& counts = parts_.known.fleet();
  return !counts || redis_now() - counts->at >= stats_period;
}

void FleetStatsCollector::collect() {
  prolonged_ = parts_.loop.now();
  if (parts_.accepted) count_fleet();
  std::vector<ListConfigPtr> lists = due(included_age);
  measuring_.begin(
      std::move(lists), [this] { return redis_now(); }, [this] { on_collected(); });
}

/// Counts the hosts of the fleet and, every 30 s, their slots for lists with overdue_after.
void FleetStatsCollector::count_fleet() {
  parts_.reader.read(
      [this, alive = std::weak_ptr<bool>(alive_)](const store::FleetReader::ViewPtr& view) {
        if (alive.expired() || !view->error.empty()) return;
        const FleetCounts counts = count(*view);
        parts_.known.record(counts);
        shared_.write({{store::FleetStats::fleet_field, to_text(counts)}});
        // A new host sends its list reports shortly after its first heartbeat.
        if (std::exchange(slots_hosts_, counts.hosts) != counts.hosts) slots_recounts_ = 3;
        const auto places = std::make_shared<SlotCount>();
        places->lists = watched_lists();
        if (places->lists.empty()) return;
        if (slots_recounts_ == 0 && parts_.loop.now() - slots_counted_at_ < places_interval) return;
        if (slots_recounts_ > 0) --slots_recounts_;
        slots_counted_at_ = parts_.loop.now();
        for (const FleetHost& host : view->hosts)
          if (host.error.empty() && !host.unresponsive) places->hosts.push_back(host.heartbeat.id);
        count_slots(places);
      });
}

std::set<std::string> FleetStatsCollector::watched_lists() const {
  std::set<std::string> lists;
  for (const ListConfigPtr& rule : active_lists())
    if (rule->overdue_after() > Duration{0}) lists.insert(rule->prefix);
  return lists;
}

/// Counts slots in steps on the query thread, which runs other queries in between.
void FleetStatsCollector::count_slots(std::shared_ptr<SlotCount> count) {
  parts_.queries.run(
      [count](verbs::QueryContext& query) {
        count_some_slots(query, *count);
        return http::HttpResponse{};
      },
      [this, alive = std::weak_ptr<bool>(alive_), count](const http::HttpResponse& response) {
        if (alive.expired() || response.status != 200) return;
        if (count->counted < count->hosts.size()) return count_slots(count);
        slots_ = std::move(count->places);
      },
      true);
}

void FleetStatsCollector::count_some_slots(verbs::QueryContext& query, SlotCount& count) {
  for (std::size_t read = 0; read < places_at_once && count.counted < count.hosts.size();) {
    FleetHost host;
    host.heartbeat.id = count.hosts[count.counted++];
    std::map<std::string, unsigned> places;  // a report may be read twice
    read +=
        verbs::each_report(query, host, [&](const std::string& prefix, const std::string& text) {
          if (!count.lists.contains(prefix)) return true;
          const auto list = view::read_report(prefix, text);
          if (list && serves(list->state)) places[prefix] = list->concurrency;
          return true;
        });
    for (const auto& [prefix, number] : places) count.places[prefix] += number;
  }
}

void FleetStatsCollector::on_measured(const ListConfigPtr& rule,
                                      const std::optional<ListStats>& stats) {
  if (!stats) {
    refused_until_[rule->prefix] = parts_.loop.now() + long_list_period;
    return;
  }
  refused_until_.erase(rule->prefix);
  ListStats all = *stats;
  const ListStats* const before = parts_.known.find(rule->prefix);
  if (rule->traits().is_due_by_time && all.estimated && before != nullptr)
    keep_counts(all, *before);
  all.cycles = cycles_with(parts_.known.cycles(rule->prefix), all.at, all.cycle);
  add_slots(*rule, all);
  parts_.known.record(rule->prefix, all, Duration{0});
  if (!parts_.accepted) return;
  if (all.cycle) parts_.hour.add_cycle(rule->prefix, *all.cycle, parts_.loop.clock().wall());
  unwritten_.emplace_back(store::FleetStats::list_field + rule->prefix, to_text(all));
  if (unwritten_.size() >= max_unwritten) write();
  if (parts_.loop.now() - prolonged_ < prolong_after) return;
  prolonged_ = parts_.loop.now();
  shared_.renew_lock();
}

void FleetStatsCollector::write() {
  shared_.write(std::exchange(unwritten_, {}));
}

/// Receives published statistics without a read. Those of this host arrive too, and are known
/// already.
void FleetStatsCollector::on_published(const std::string& name, const std::string& text) {
  if (!parts_.accepted || !parts_.member.time().known()) return;
  handle_field(name, text, redis_now());
  if (!reading_ && !measuring_.busy() && failed_locks_ == 0) wait();
}

void FleetStatsCollector::add_slots(const ListConfig& rule, ListStats& stats) {
  const Duration within = rule.overdue_after();
  if (within == Duration{0}) return;
  if (const auto found = slots_.find(rule.prefix); found != slots_.end()) {
    stats.slots = found->second;
    if (rule.fleet_concurrency > 0)
      stats.slots = std::min<std::uint64_t>(*stats.slots, rule.fleet_concurrency);
  }
  std::uint64_t items = 0;
  for (const auto& [state, number] : stats.items) {
    if (state == "length") items += number;
    if (state == "quarantined") items -= std::min(items, number);
  }
  const auto list = parts_.supervisor.lists().find(rule.prefix);
  const auto measures =
      list == parts_.supervisor.lists().end() ? std::nullopt : list->second->run_stats();
  const ListStats* const before = parts_.known.find(rule.prefix);
  if (measures) {
    RunDurations& runs = runs_[rule.prefix];
    const std::uint64_t count = measures->runs.count();
    if (count > runs.count)
      runs.mean = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
          (measures->runs.seconds() - runs.seconds) / static_cast<double>(count - runs.count)));
    runs.seconds = measures->runs.seconds();
    runs.count = count;
    if (runs.count > 0) stats.slots_needed = places_for(items, runs.mean, within);
  } else if (before != nullptr && before->slots_needed.value_or(0) > 0) {
    stats.slots_needed = before->slots_needed;  // as reported by a host that has runs
  }
  if (items == 0) stats.slots_needed = 0;
}

void FleetStatsCollector::on_collected() {
  if (parts_.accepted) {
    write();
    shared_.release_lock();
  }
  check_overdue();
  wait();
}

// ---- overdue lists

/// Returns whether the config has a list with overdue_after, or any list that is watched.
const FleetStatsCollector::Watched& FleetStatsCollector::watches() const {
  const Supervisor& supervisor = parts_.supervisor;
  if (std::exchange(generation_, supervisor.generation()) == supervisor.generation())
    return watches_;
  watches_ = {};
  for (const auto& [prefix, list] : supervisor.lists()) {
    watches_.visits = watches_.visits || list->config().overdue_after() > Duration{0};
    watches_.any = watches_.any || is_watched(list->config());
  }
  return watches_;
}

void FleetStatsCollector::check_overdue() {
  // Most often none of 10,000 lists has overdue_after.
  if (!watches().visits && overdue_.empty()) return;
  for (const auto& [prefix, list] : parts_.supervisor.lists()) {
    const Duration within = list->config().overdue_after();
    if (within == Duration{0} && !overdue_.contains(prefix)) continue;
    ListStatus status;
    status.prefix = prefix;
    status.overdue_after = within;
    parts_.known.add_to(status);
    const std::string why = why_slow(status);
    if (why.empty() ? overdue_.erase(prefix) > 0 : overdue_.insert(prefix).second)
      parts_.events.on_event(ListOverdue{prefix, why.empty(), why});
  }
  std::erase_if(overdue_, [this](const std::string& prefix) {
    return !parts_.supervisor.lists().contains(prefix);
  });
}

}  // namespace w8y::app
