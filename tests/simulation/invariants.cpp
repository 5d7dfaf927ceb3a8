#include "simulation/invariants.hpp"

#include <algorithm>
#include <utility>

#include "core/circular_settings.hpp"
#include "store/lock_value.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

/// Time of the effects of a fault: a host closes a connection after command_timeout and reconnects.
constexpr Duration aftermath = std::chrono::seconds(8);
/// Time that a host needs for its backlog after a stall.
constexpr Duration after_stall = std::chrono::milliseconds(20);
/// Maximum size of a call, in addition to twice its longest item.
constexpr std::size_t max_in_call = std::size_t{320} << 10;
/// Maximum time from the kill of a child to its end.
constexpr Duration tolerance = std::chrono::milliseconds(2);

std::string text_of(Server& server, const std::string& key) {
  const auto* text = server.keys().find<std::string>(key);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

void Invariants::break_promise(std::string promise, std::string why,
                               std::vector<std::string> subjects) {
  if (broken_) return;
  world_.log("promises", "", promise + ": " + why);
  broken_ = Broken{std::move(promise), std::move(why), std::move(subjects)};
  world_.stop();
}

void Invariants::error(const std::string& affected, Duration time) {
  Instant& until = error_until_[affected];
  until = std::max(until, world_.now() + time + aftermath);
}

bool Invariants::in_error(const std::string& host, const std::string& server, Instant since) const {
  return std::any_of(error_until_.begin(), error_until_.end(), [&](const auto& error) {
    const auto& [affected, until] = error;
    return (affected.empty() || affected == host || affected == server) && until >= since;
  });
}

bool Invariants::is_away(const std::string& host, Instant since) const {
  const auto found = away_.find(host);
  return found != away_.end() && found->second + after_stall >= since;
}

/// Returns whether the child ran when its host stalled, so that the host could not stop it.
bool Invariants::stood_still(const Run& run) const {
  const auto found = away_.find(run.host);
  return found != away_.end() && found->second >= run.born &&
         found->second + after_stall >= run.lease_ends - run.life;
}

// ---- claims

void Invariants::before(Server& server, const Server::Command& command) {
  servers_[server.name()] = &server;
  if (command.script == &store::scripts::claim) ++claims_made_[server.name()];
  if (command.script == &store::scripts::settle) before_settle(server, command);
  if (command.script == &store::scripts::remove) before_removal(server, command);
  for (const auto& watch : watches_) watch->before(server, command);
  check_size(command);
}

/// Checks the size of a call, which may have one item of any length at most twice.
void Invariants::check_size(const Server::Command& command) {
  std::size_t size = 0, longest = 0;
  for (const Words* words : {&command.words, &command.key, &command.arg})
    for (const std::string& word : *words) {
      size += word.size();
      longest = std::max(longest, word.size());
    }
  if (size > max_in_call + 2 * longest && command.who.starts_with('h'))
    break_promise("a call is bounded",
                  command.who + " sends " + std::to_string(size) +
                      " bytes, and its longest item has " + std::to_string(longest),
                  {command.who});
}

void Invariants::after(Server& server, const Server::Command& command, const Value& reply) {
  for (const auto& watch : watches_) watch->after(server, command, reply);
  if (command.script == &store::scripts::rerun) after_rerun(server, command, reply);
  if (command.who == "operator") return after_operator(server, command);
  if (command.script == nullptr) return;
  if (command.script == &store::scripts::claim || command.script == &store::scripts::claim_item) {
    after_claim(server, command, reply);
    check_items(server, command.key[0], command.who);
  } else if (command.script == &store::scripts::renew) {
    after_renew(server, command, reply);
  } else if (command.script == &store::scripts::settle) {
    after_settle(server, command, reply);
    check_items(server, list_key_of_settle(command.key), command.who);
  } else if (command.script == &store::scripts::undo_claim) {
    for (const Value& run : reply.elements) finish(runs_[run.text]);
  }
}

void Invariants::after_claim(Server& server, const Server::Command& command, const Value& reply) {
  if (reply.kind != Value::Kind::array) return;
  const auto& told = reply.elements;
  if (command.script == &store::scripts::claim_item) {
    if (told[0].text != "ok") return;
    check_listed(server, command, command.arg[3]);
    check_marks(server, command, command.arg[3], command.arg[0]);
    rests_.erase(server.name() + ' ' + brief(command.key[6]));
    return claimed(
        server, {command.who, list_of(command.key[0]), command.arg[3], command.arg[4],
                 command.key[6], command.arg[0], std::chrono::milliseconds(number(command.arg[1])),
                 number(command.arg[2])});
  }
  constexpr std::size_t head = 7, several = 5;
  if (told.size() < head) return;
  if (told.size() >= head + 3 * several)
    if (const auto waits = at_claims_.extract(command.who)) waits.mapped()();
  std::size_t run = 17;
  for (std::size_t i = head + 2 * static_cast<std::size_t>(told[6].number); i + 2 < told.size();
       i += 3, ++run) {
    check_listed(server, command, told[i].text);
    check_marks(server, command, told[i].text, command.arg[1] + command.arg[run]);
    claimed(server, {command.who, list_of(command.key[0]), told[i].text, command.arg[run],
                     command.arg[0] + told[i].text, command.arg[1] + command.arg[run],
                     std::chrono::milliseconds(number(command.arg[2])), number(command.arg[3])});
  }
}

void Invariants::claimed(Server& server, const ClaimSeen& claim) {
  ++count_.claims;
  ++claims_won_[server.name()];
  visits_[key_of(server.name(), claim.list, claim.item)] = world_.now();
  Run& run = runs_[claim.run];
  run.id = claim.run;
  run.host = claim.who;
  run.server = server.name();
  run.list = claim.list;
  run.item = brief(claim.item);
  run.lock = claim.lock;
  run.value = claim.value;
  run.claimed = world_.now();
  run.number = ++claims_;
  run.limit = static_cast<std::size_t>(claim.fleet_limit);
  run.life = claim.life;
  run.lock_in_brief = brief(run.lock);
  const std::string locks = run.lock.substr(0, run.lock.size() - claim.item.size());
  Turning& turning = turning_[server.name() + ' ' + locks];
  ++turning.claims;
  turning.last = world_.now();
  world_.log(server.name(), claim.list + ' ' + run.item,
             "claimed by " + claim.who + ", run " + claim.run);
  lease_ends_at(run, world_.now() + claim.life);
  if (run.limit > 0) check_fleet(run);
  check_rest(run);
  last_claim_[lock_of(run)] = &run;
  if (const auto waits = at_claim_.extract(claim.who)) waits.mapped()(claim.life);
}

void Invariants::check_rest(const Run& run) {
  const auto found = rests_.find(lock_of(run));
  if (found == rests_.end()) return;
  const Rest rest = found->second;
  rests_.erase(found);
  const auto freed = freed_.find(run.list);
  const bool by_operator = freed != freed_.end() && freed->second >= rest.claimed;
  const Run& of_rest = runs_[rest.run];
  // A sweep ends the quarantine of an item that another client has removed.
  const auto changed = changed_at_.find(run.server + ' ' + run.list);
  const bool by_sweep =
      rest.quarantined && changed != changed_at_.end() && changed->second >= rest.claimed;
  // A host that leaves a Redis cancels the jobs that it delays there.
  const bool by_move = rest.by_host && has_moved(of_rest.host, of_rest.server);
  const bool excused = by_operator || by_sweep || by_move || of_rest.lost_by_store ||
                       in_error(of_rest.host, of_rest.server, rest.claimed);
  if (world_.now() + tolerance < rest.until && !excused)
    break_promise("a delay is respected",
                  "it is claimed " + std::to_string((rest.until - world_.now()).count() / 1000) +
                      " ms before the end of the delay after run " + rest.run,
                  {run.list + ' ' + run.item, run.id});
}

/// Returns whether a host is alive and has applied a config with another Redis, or with none.
bool Invariants::has_moved(const std::string& host, const std::string& from) const {
  if (!redis_of) return false;
  const std::optional<std::string> now = redis_of(host);
  return now && *now != from;
}

/// Checks that a list has no more runs on all hosts than fleet_concurrency. The value is that of
/// the claiming host's config at its claim; other hosts may have a larger one. Runs that have
/// regained their lease are not counted.
void Invariants::check_fleet(const Run& run) {
  auto& places = places_[run.server + ' ' + run.list];
  places.insert(run.id);
  std::erase_if(places, [this](const std::string& id) {
    const Run& other = runs_[id];
    return other.settled || other.lost_by_store || other.retaken > 0 ||
           other.lease_ends <= world_.now() + tolerance;  // Redis counts in ms
  });
  // By then, the longest lease is renewed, and its fleet slot with it.
  if (world_.now() < places_unknown_[run.server] + aftermath) return;
  for (const std::string& id : places) {
    const Run& last = runs_[id];
    const auto count = std::count_if(places.begin(), places.end(), [&](const std::string& other) {
      return runs_[other].number <= last.number;
    });
    if (static_cast<std::size_t>(count) > last.limit)
      break_promise("fleet_concurrency is respected",
                    std::to_string(count) + " runs of " + run.list + ", and " +
                        std::to_string(last.limit) + " are allowed",
                    {run.list, last.host});
  }
}

// ---- leases

void Invariants::lease_ends_at(Run& run, Instant at) {
  run.lease_ends = at;
  world_.at(at + tolerance, [this, id = run.id, at] {
    if (runs_.contains(id) && runs_[id].lease_ends == at)
      lease_over(id, servers_[runs_[id].server]);
  });
}

void Invariants::after_renew(Server& server, const Server::Command& command, const Value& reply) {
  for (std::size_t i = 1; i < reply.elements.size(); ++i) {
    const auto state = reply.elements[i].number;
    const std::string& value = command.arg[i + 5];
    const auto run = runs_.find(value.substr(value.size() - 26));
    const Duration life = std::chrono::milliseconds(number(command.arg[0]));
    const bool late = reply.elements[0].number >= number(command.arg[2]);
    if ((state == 1 || state == 2) && text_of(server, command.key[i]) != value)
      break_promise("a host renews only its own locks",
                    command.who + " renews " + brief(command.key[i]) + " of another holder",
                    {command.who, value});
    if (state == 2 && late)
      break_promise("a renewal that arrives late locks nothing",
                    command.who + " locks " + brief(command.key[i]) + " again",
                    {command.who, value});
    if (state == 3)
      if (const auto waits = at_gone_.extract(command.who)) waits.mapped()(life);
    if (run == runs_.end() || (state != 1 && state != 2)) continue;
    renewed(run->first.str(), life, state == 2);
  }
}

void Invariants::renewed(const std::string& id, Duration life, bool again) {
  const auto run = runs_.find(id);
  if (run == runs_.end()) return;
  if (again) run->second.retaken = ++claims_;
  lease_ends_at(run->second, world_.now() + life);
}

void Invariants::lease_over(const std::string& id, Server* server) {
  Run& run = runs_[id];
  if (run.settled || !run.alive) return;
  const bool lock_is_there = text_of(*server, run.lock) == run.value;
  if (lock_is_there) return;
  ++count_.lapses;
  const Instant since = run.lease_ends - run.life;
  world_.log(run.server, run.list + ' ' + run.item,
             "lease of run " + id + " has expired during the run");
  if (run.lost_by_store) return;
  if (run.terminates ? stood_still(run) : is_away(run.host, since)) return;
  if (run.terminates)
    return break_promise("the child is dead before its lease ends",
                         "run " + id + " of " + run.host + " is alive",
                         {run.host, run.list + ' ' + run.item});
  if (!in_error(run.host, run.server, since))
    break_promise("a lease is renewed", "the lease of run " + id + " has ended without a fault",
                  {run.host, run.list + ' ' + run.item});
}

void Invariants::lost_writes(Server& server) {
  for (auto& [id, run] : runs_)
    if (run.server == server.name()) run.lost_by_store = true;
  std::set<std::string> lists;
  for (const auto& [place, sum] : items_)
    if (place.starts_with(server.name() + ' '))
      lists.insert(place.substr(server.name().size() + 1));
  for (const std::string& list : lists) user_changes(server, list_of(list));
  for (const auto& watch : watches_) watch->lost_writes(server);
  std::erase_if(rests_,
                [&](const auto& rest) { return rest.first.starts_with(server.name() + ' '); });
}

// ---- children

void Invariants::child_born(const Child& child) {
  ++count_.children;
  if (at_birth) at_birth(child);
  if (is_of_watch([&](KindWatch& watch) { return watch.child_born(child); })) return;
  const auto found = runs_.find(child.claim.run);
  if (found == runs_.end() && is_away(child.host, world_.now())) return;
  if (found == runs_.end())
    return break_promise("an item has one holder at a time",
                         "run " + child.claim.run + " was never claimed", {child.host});
  Run& run = found->second;
  run.alive = true;
  run.born = world_.now();
  run.terminates = child.rule->on_lease_loss == OnLeaseLoss::terminate;
  const std::string place = key_of(run.server, run.list, run.item);
  world_.log(child.host, run.list + ' ' + run.item,
             "process " + std::to_string(child.pid) + " for run " + run.id);
  if (run.lease_ends + tolerance < world_.now() && !run.lost_by_store && !stood_still(run))
    break_promise("no run starts under an expired lease", "run " + run.id + " of " + run.host,
                  {run.host, run.list + ' ' + run.item});
  auto& others = living_[place];
  for (const std::string& id : others) {
    const Run& other = runs_[id];
    ++count_.overlaps;
    if (!may_overlap(other, run))
      break_promise("an item has one holder at a time",
                    "runs " + id + " of " + other.host + " and " + run.id + " of " + run.host +
                        " of the same item",
                    {run.list + ' ' + run.item, run.host, other.host});
  }
  others.insert(run.id);
}

/// Returns whether the contract permits both runs of an item at the same time.
bool Invariants::may_overlap(const Run& other, const Run& run) const {
  return other.lost_by_store || run.lost_by_store ||
         (other.lease_ends <= world_.now() && !other.terminates) ||
         (run.lease_ends <= world_.now() && !run.terminates) ||
         is_away(other.host, other.lease_ends - other.life) || is_away(run.host, run.claimed);
}

void Invariants::child_dead(const Child& child) {
  if (is_of_watch([&](KindWatch& watch) { return watch.child_dead(child); })) return;
  Run& run = runs_[child.claim.run];
  run.alive = false;
  const std::string place = key_of(run.server, run.list, run.item);
  living_[place].erase(run.id);
  if (living_[place].empty()) living_.erase(place);
  world_.log(child.host, run.list + ' ' + run.item,
             "process " + std::to_string(child.pid) + " is gone");
}

// ---- settlements

namespace {

/// Returns how long the item of a run that has failed is delayed at least, if its list has a
/// breaker. The end of another run may open the breaker. That releases a quarantine, and a job
/// waits for the breaker instead of its delay.
Duration least_rest(const EndedRun& ended) {
  const ListConfig& rule = *ended.rule;
  const bool quarantines = rule.max_failures > 0 && ended.claim.attempt >= rule.max_failures;
  if (quarantines || rule.kind() == SourceKind::job) return Duration{0};
  return backoff_after(rule.backoff, 1);
}

}  // namespace

void Invariants::run_over(const std::string& host, const std::string&, const EndedRun& ended) {
  ++runs_of_[host];
  if (is_of_watch([&](KindWatch& watch) { return watch.run_over(host, ended); })) return;
  const SourceKind kind = ended.rule->kind();
  if (kind != SourceKind::circular && kind != SourceKind::job) return;
  const Run& run = runs_[ended.claim.run];
  const std::string place = lock_of(run);
  rests_.erase(place);
  Duration rest{0};
  if (counts_as(ended) == Counts::failure) {
    rest = backoff_after(ended.rule->backoff, ended.claim.attempt);
    if (ended.rule->breaker.runs > 0) rest = least_rest(ended);
  } else if (counts_as(ended) == Counts::success && kind == SourceKind::circular) {
    rest = ended.end.complete && ended.end.complete->cooldown ? *ended.end.complete->cooldown
                                                              : ended.rule->circular().cooldown;
  }
  const bool last = last_claim_[place] != nullptr && last_claim_[place]->id == run.id;
  if (rest > Duration{0} && last && run.lease_ends > world_.now())
    rests_[place] = {
        world_.now() + rest,
        run.claimed,
        run.host,
        run.id,
        ended.rule->max_failures > 0 && ended.claim.attempt >= ended.rule->max_failures,
        kind == SourceKind::job};
}

/// From now on, the host regards this run as the last holder of the item.
void Invariants::lease_back(const RunId& id) {
  Run& run = runs_[id];
  if (run.retaken == 0) return;
  run.number = run.retaken;
}

}  // namespace w8y::sim
