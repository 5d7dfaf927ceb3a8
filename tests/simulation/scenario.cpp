// World: its setup, and the invariants when no fault is active any more.
#include "simulation/scenario.hpp"

#include <algorithm>
#include <set>

#include "core/circular_settings.hpp"
#include "simulation/invariants_jobs.hpp"
#include "simulation/invariants_schedules.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Maximum time from the end of the last fault until hosts work as if there had been none.
constexpr Duration recovery = 15s;
/// Maximum wait of a free item while a host has a free slot for it.
constexpr Duration max_wait = 5s;
/// Age at which a host cancels its deficit for scans of long lists.
constexpr Duration max_debt = IdlePolls::longest_debt;
constexpr Duration check_pause = 500ms;
/// Maximum duration of a drain.
constexpr Duration max_drain = 30s;
/// Commands in 10 s that are not for idle lists: pings, sweeps.
constexpr double extra_commands = 25;
/// Heartbeats, fleet commands and list statistics in 10 s.
constexpr double fleet_commands = 60;
/// Commands of each run: claim, events, renewals and settlement.
constexpr double commands_of_run = 12;
/// Claims by all hosts together for each item that one of them gets.
constexpr double claims_of_run = 3;
/// Bytes that a host may keep: 8 MiB of items per second of the lifetime of locks, the settlements
/// in flight, and one item of the maximum length.
constexpr std::size_t max_kept = std::size_t{160} << 20;
/// Maximum time after a reload to another Redis until runs have ended and settlements are written
/// or abandoned.
constexpr Duration max_move = 50s;

}  // namespace

Scenario::Scenario(const SceneOptions& options)
    : options_(options),
      world_(options.seed),
      promises_(world_),
      first_(world_, "redis1"),
      second_(world_, "redis2"),
      network_(world_),
      children_(world_, promises_),
      jitter_(world_.random.fork(3)) {
  use_network(&network_, &jitter_);
  for (Server* each : {&first_, &second_}) {
    each->watcher = &promises_;
    each->permit_tracking(options_.scale.with_events);
    network_.add(*each);
  }
  Random random = world_.random.fork(4);
  settings_ = draw_settings(random, options_.scale.hosts, options_.scale.lists);
  if (options_.scale.schedule) {
    settings_.others.push_back(draw_other(random, SourceKind::schedule));
    promises_.add(std::make_unique<ScheduleWatch>(promises_, schedule_name));
  }
  if (options_.scale.feed) {
    settings_.others.push_back(draw_other(random, SourceKind::job));
    promises_.add(std::make_unique<JobWatch>(promises_, feed_name));
  }
  if (options_.scale.breakers) {
    Random of_breakers = world_.random.fork(14);
    for (auto* lists : {&settings_.lists, &settings_.others})
      for (ListSettings& list : *lists) {
        if (!of_breakers.chance(80)) continue;
        list.breaker = of_breakers.one_of<std::string>({"80% of 10", "100% of 5", "60% of 20"});
        list.max_failures = static_cast<unsigned>(of_breakers.one_of<int>({1, 2, 3}));
      }
  }
  if (options_.scale.gearman) {
    Random of_gearman = world_.random.fork(11);
    settings_.others.push_back(draw_other(of_gearman, SourceKind::gearman));
    gearman_ = std::make_unique<GearmanScene>(
        GearmanContext{world_, network_, promises_, children_, hosts_, settings_of_,
                       [this](const std::string& name) -> Server& { return server(name); },
                       World::beginning + options_.scale.time - Scale::calm},
        of_gearman);
  }
  for (unsigned i = 1; i <= options_.scale.hosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    settings_of_[name] = settings_;
    hosts_.push_back(std::make_unique<Host>(world_, network_, children_, promises_, name));
    hosts_.back()->write_config(settings_.config_of(name));
  }
  if (options_.scale.fleet) populate_fleet();
  if (options_.scale.redisless) populate_redisless(world_.random.fork(13));
  operator_ = std::make_unique<Operator>(world_, network_, "operator");
  promises_.redis_of = [this](const std::string& name) {
    const Host& which = host(name);
    return which.alive() ? std::optional(which.server()) : std::nullopt;
  };
  populate();
  if (options_.scale.schedule) populate_schedule(world_.random.fork(9));
  if (options_.scale.feed) populate_feed(world_.random.fork(10));
}

Scenario::~Scenario() {
  for (auto& each : hosts_) each->die();
  operator_.reset();
  world_.clear();
}

void Scenario::run() {
  Random random = world_.random.fork(6);
  for (const auto& each : hosts_)
    world_.after(random.between(Duration{0}, Duration(2s)), [host = each.get()] { host->start(); });
  for (const Fault& fault : options_.faults)
    world_.at(World::beginning + fault.at, [this, &fault] { begin(fault); });
  const Instant end = World::beginning + options_.scale.time;
  // A loss waits for a packet. The next fleet command may follow after a minute.
  network_.on_loss = [this](const std::string& host, const std::string& at) {
    if (!gearman_ || !gearman_->lost(host, at)) promises_.error(host, Duration{0});
  };
  world_.at(end - Scale::calm, [this] { network_.forget_losses(); });
  world_.at(end - Scale::calm + recovery, [this] { watch_calm(); });
  world_.at(end, [this] { leave(); });
  world_.after(10s, [this] { check_calls(); });
  world_.run_until(end + max_drain + 5s);
}

// ---- the calm

void Scenario::watch_calm() {
  // No breaker may stay open, and none opens any more.
  if (options_.scale.breakers)
    for (auto& [list, manner] : children_.manners) manner.failing = 0;
  for (const auto& each : hosts_) {
    const bool here = each->alive() && (each->connected() || !has_redis(*each));
    if (!here || each->state() != HostState::running)
      promises_.break_promise("hosts recover without help",
                              each->name() + (here ? " is not ready " : " has no Redis ") +
                                  std::to_string(recovery.count() / 1'000'000) +
                                  " s after the last fault",
                              {each->name()});
  }
  check(Duration{0});
  if (options_.scale.with_events) add_and_look(world_.random.fork(12));
}

void Scenario::check(Duration since_calm) {
  for (const ListSettings& list : settings_.lists) query_list(list.name);
  check_others();
  if (since_calm + check_pause < Scale::calm - recovery)
    world_.after(check_pause, [this, since_calm] { check(since_calm + check_pause); });
}

/// Returns whether a host could run another item of a list now.
bool Scenario::has_room(const Host& host, const ServedList& list) {
  const Supervisor& supervisor = *host.supervisor();
  const ListConfig& rule = list.config();
  Keys& keys = server(host.server()).keys();
  std::size_t running = 0;
  for (const auto& [prefix, other] : supervisor.lists()) running += other->running();
  const SortedSet* slots = keys.find<SortedSet>(rule.prefix + ":slots");
  const bool full =
      rule.fleet_concurrency > 0 && slots != nullptr && slots->size() >= rule.fleet_concurrency;
  const std::size_t limit = supervisor.slots().limit();
  // In some runs, the host is starved of processes.
  const bool starved = list.poller() != nullptr && list.poller()->state() == PollerState::starved;
  return !full && !starved && list.poller() != nullptr && list.running() < rule.concurrency &&
         (limit == 0 || running < limit) && !keys.exists(rule.prefix + ":paused");
}

/// Returns how much longer a free item may wait because a breaker is or was open: the largest pause
/// before a probe, its run, and the time in which items wait for it.
Duration Scenario::delay_by_breaker(Server& at, const std::string& list) {
  constexpr Duration probe = 10s + 5s + 10s;
  const std::string name = at.name() + ' ' + list;
  if (has_field(at.keys(), list + ":breaker", "since")) open_[name] = world_.now();
  const auto open = open_.find(name);
  return open != open_.end() && world_.now() - open->second < max_wait ? probe : Duration{0};
}

/// Returns for how long a condition has been true at each check.
Duration Scenario::for_how_long(const std::string& what, bool is) {
  if (!is) {
    since_.erase(what);
    return Duration{0};
  }
  return world_.now() - since_.try_emplace(what, world_.now()).first->second;
}

/// Checks that hosts rotate a list and skip no item, while an item is free and a host has a free
/// slot for it. Checks each lock_key of the hosts. Hosts with different lock_keys share a wait
/// queue, and an item that is locked under one name is not free.
void Scenario::query_list(const std::string& list) {
  std::map<std::pair<Server*, std::string>, std::string> idle;  // hosts with a slot for max_wait
  std::map<Server*, std::set<std::string>> names;
  for (const auto& each : hosts_) {
    const auto* supervisor = each->supervisor();
    if (supervisor == nullptr || !has_redis(*each)) continue;
    const auto served = supervisor->lists().find(list);
    if (served == supervisor->lists().end() || served->second->state() != ServingState::serving)
      return promises_.break_promise("hosts recover without help",
                                     list + " is not served by " + each->name(), {each->name()});
    const bool room = has_room(*each, *served->second);
    const std::string locks = list + ':' + served->second->config().circular().lock_key + ':';
    names[&server(each->server())].insert(locks);
    if (for_how_long(each->server() + ' ' + each->name() + ' ' + locks, room) > max_wait)
      idle[{&server(each->server()), locks}] = each->name();
  }
  for (const auto& [where, who] : idle)
    query_items(*where.first, list, where.second, names[where.first], who);
}

void Scenario::query_items(Server& at, const std::string& list, const std::string& locks,
                           std::set<std::string> names, const std::string& who) {
  const List* items = at.keys().find<List>(list + ":list");
  if (items == nullptr) return;
  // Claims respect both names of locks while both are in use.
  for (const char* name : {":lock", ":proc"})
    if (at.keys().exists(list + name)) names.insert(list + name + ':');
  const auto& turning = promises_.turning(at.name() + ' ' + locks);
  const Duration pass = time_for_pass(*items, who);
  const Duration read = time_for_bytes(*items, who);
  const Duration open = delay_by_breaker(at, list);
  Instant last_turn = turning.last;
  // An open breaker lets one item at a time run, under any lock_key.
  if (open > Duration{0})
    for (const std::string& name : names)
      last_turn = std::max(last_turn, promises_.turning(at.name() + ' ' + name).last);
  // Few items are free at a time, even in a long list.
  auto& free = free_[at.name() + ' ' + locks];
  std::map<std::string, Free> was;
  was.swap(free);
  for (const std::string& item : *items) {
    const bool quarantined =
        has_field(at.keys(), list + ":quarantined", item);  // under any lock_key
    const bool locked = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return at.keys().exists(name + item);
    });
    if (quarantined || locked) continue;
    const auto known = was.find(item);
    const Free since = known == was.end() ? Free{world_.now(), turning.claims} : known->second;
    if (promises_.visited(at.name(), list, item) > since.at) continue;
    free.emplace(item, since);
    const Duration waits = world_.now() - since.at;
    const bool by_end =
        promises_.set_free(at, locks + item) > promises_.visited(at.name(), list, item);
    const Duration debt = by_end ? pass + read : pass == Duration{0} ? pass : max_debt;
    const Duration longest = max_wait + open + debt;
    if (waits > longest && (last_turn < world_.now() - longest ||
                            turning.claims - since.claims > 3 * items->size() + 10))
      return promises_.break_promise("each free item is claimed",
                                     who + " has a free slot, and " + brief(item) + " of " + list +
                                         " is free for " +
                                         std::to_string(waits.count() / 1'000'000) +
                                         " s, while other items have been claimed " +
                                         std::to_string(turning.claims - since.claims) + " times",
                                     {list, list + ' ' + brief(item), who});
  }
}

/// Returns the time that half of the idle budget needs for a scan of a long list. The host searches
/// for an item that a settlement frees after the deficit of one scan, and for other items after its
/// whole deficit.
Duration Scenario::time_for_pass(const List& items, const std::string& who) const {
  constexpr std::size_t cheap = 4;
  const std::size_t calls = items.size() / store::ScriptLocks::most_looked_at;
  return calls <= cheap ? Duration{0} : time_for_calls(calls, who);
}

/// Returns the time that half of the idle budget needs for the bytes of the items, which count as
/// calls as well.
Duration Scenario::time_for_bytes(const List& items, const std::string& who) const {
  std::size_t bytes = 0;
  for (const std::string& item : items) bytes += item.size();
  return time_for_calls(bytes / store::ScriptLocks::bytes_per_call, who);
}

Duration Scenario::time_for_calls(std::size_t calls, const std::string& who) const {
  return Duration(1s) * calls / (settings_of_.at(who).idle_commands / 2);
}

void Scenario::check_calls() {
  bool quiet = true;
  double for_nothing = 0;
  for (const auto& each : hosts_) {
    quiet = check_host(*each) && quiet;
    check_previous_server(*each);
    for_nothing += settings_of_[each->name()].idle_commands * 10.0 + extra_commands;
  }
  for (const auto& each : hosts_)
    if (each->kept() > max_kept)
      promises_.break_promise("memory is bounded",
                              each->name() + " keeps " + std::to_string(each->kept()) + " bytes",
                              {each->name()});
  for (Server* each : {&first_, &second_}) {
    const Window now{promises_.claims_made(each->name()), promises_.claims_won(each->name())};
    const Window was = std::exchange(windows_[each->name()], now);
    const auto won = static_cast<double>(now.runs - was.runs);
    const double most = for_nothing + won * claims_of_run;
    if (quiet && static_cast<double>(now.commands - was.commands) > most)
      promises_.break_promise(
          "claims are bounded",
          "all hosts together made " + std::to_string(now.commands - was.commands) +
              " claims in 10 s for " + std::to_string(now.runs - was.runs) + " items",
          {});
  }
  if (left_ == 0 && world_.age() < options_.scale.time)
    world_.after(10s, [this] { check_calls(); });
}

/// Returns false if a fault has affected the host.
bool Scenario::check_host(const Host& which) {
  const std::string& name = which.name();
  const Window now{first_.commands(name) + second_.commands(name), promises_.runs_of(name)};
  const Window was = std::exchange(windows_[name], now);
  if (!which.alive() || promises_.in_error(name, which.server(), world_.now() - Duration(10s)))
    return false;
  const std::uint64_t commands = now.commands - was.commands, runs = now.runs - was.runs;
  const double needed = static_cast<double>(runs) * commands_of_run;
  // The unused budget of the second before is added.
  const double most = settings_of_[name].idle_commands * 11.0 + extra_commands + needed +
                      (options_.scale.fleet ? fleet_commands : 0);
  world_.log(name, "",
             std::to_string(commands) + " commands and " + std::to_string(runs) + " runs in 10 s");
  if (static_cast<double>(commands) > most)
    promises_.break_promise("calls are bounded",
                            name + " made " + std::to_string(commands) + " calls in 10 s for " +
                                std::to_string(runs) + " runs",
                            {name});
  return true;
}

/// Checks that a host that has moved to another Redis does not connect to the old one any more.
void Scenario::check_previous_server(const Host& which) {
  const std::string& name = which.name();
  const std::string at = which.alive() ? which.server() : std::string();
  Moved& moved = moved_[name];
  std::uint64_t tries = 0;  // to connect to other servers than its own
  for (const Server* each : {&first_, &second_})
    if (each->name() != at) tries += each->tries(name);
  if (redisless_always_ && !has_redis(which) && tries > 0)
    promises_.break_promise("a host without Redis does not connect to one",
                            name + " has tried to connect", {name});
  const std::string wanted = has_redis(which) ? settings_of_[name].server : std::string();
  if (moved.to != at || which.started() > moved.at || wanted != at) {
    moved = {at, world_.now(), tries};
  } else if (world_.now() - moved.at > max_move && std::exchange(moved.tries, tries) != tries) {
    promises_.break_promise(
        "a host that has moved leaves the old Redis",
        name + " still connects to a server other than " + (at.empty() ? "none" : at), {name});
  } else {
    moved.tries = tries;
  }
}

void Scenario::leave() {
  std::set<std::string> used;  // servers of hosts that have other lists than circular ones
  for (const auto& each : hosts_)
    if (!settings_of_[each->name()].others.empty()) used.insert(each->server());
  for (const auto& each : hosts_)
    each->drain([this, host = each.get()] {
      world_.log(host->name(), "", "has drained");
      world_.after(Duration{1}, [this, host] {
        host->die();
        ++left_;
      });
    });
  world_.after(max_drain, [this, used] {
    if (left_ < hosts_.size())
      promises_.break_promise(
          "a drain ends", std::to_string(hosts_.size() - left_) + " hosts have not left in 30 s",
          {});
    Words lists;
    for (const ListSettings& list : settings_.lists) lists.push_back(list.name);
    if (gearman_) gearman_->nothing_left();
    for (Server* each : {&first_, &second_})
      promises_.nothing_left(*each, lists, used.contains(each->name()));
  });
}

// ---- helpers

Host& Scenario::host(const std::string& name) {
  return **std::find_if(hosts_.begin(), hosts_.end(),
                        [&](const auto& each) { return each->name() == name; });
}

std::string Scenario::item_of(Server& server, const std::string& list, std::uint64_t number) {
  const List* items = server.keys().find<List>(list + ":list");
  return items == nullptr ? "item1" : (*items)[number % items->size()];
}

void Scenario::user(Server& server, const std::string& list, const Words& words) {
  server.command("user", words);
  promises_.user_changes(server, list);
}

}  // namespace w8y::sim
