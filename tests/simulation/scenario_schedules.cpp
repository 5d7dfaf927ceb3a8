// Scenario: schedules, and their clients that are not hosts: users, an operator and Redbike.
#include <algorithm>

#include "core/job_code.hpp"
#include "simulation/invariants_schedules.hpp"
#include "simulation/scenario.hpp"
#include "source/schedule/decision.hpp"
#include "store/schedule/keys.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;
using FaultKind = Fault::Kind;

const store::ScheduleKeys& plan_keys() {
  static const store::ScheduleKeys keys(schedule_name);
  return keys;
}

std::string job_named(std::uint64_t number) {
  return "m" + std::to_string(1 + number % 6) + (number % 3 == 0 ? ":B" : ":A");
}

std::string draw_schedule(Random& random, std::int64_t now_s) {
  const auto dice = random.below(100);
  if (dice < 45) return "FREQ=SECONDLY;INTERVAL=" + std::to_string(random.between(1, 9));
  if (dice < 65) return "CONTINUE";
  if (dice < 80) return "AT:" + std::to_string(now_s + random.between(-1, 20));
  if (dice < 92) return "NOW";
  return dice < 97 ? "STOP" : "no schedule";
}

/// Effect of a decision: a word, and the Unix time of "at".
struct EffectWords {
  std::string word;
  std::string time = "0";
};

struct EffectWordsOf {
  EffectWords operator()(const store::Enqueue&) const { return {"enqueue"}; }
  EffectWords operator()(const store::StopJob&) const { return {"stop"}; }
  EffectWords operator()(const store::BadJob&) const { return {"bad"}; }
  EffectWords operator()(const store::RunAt& at) const { return {"at", std::to_string(at.time)}; }
};

}  // namespace

void Scenario::populate_schedule(Random random) {
  auto& manner = children_.manners[schedule_name];
  manner.failing = static_cast<unsigned>(random.one_of<int>({0, 5, 30}));
  manner.stubborn = static_cast<unsigned>(random.one_of<int>({0, 10}));
  manner.longest = random.one_of<Duration>({500ms, 1s, 4s});
  manner.shortest = manner.longest / 8;
  for (Server* each : {&first_, &second_})
    for (auto left = random.between(2, 8); left > 0; --left)
      set_schedule(*each, job_named(random.next()), random);
}

void Scenario::set_schedule(Server& at, const std::string& job, Random& random) {
  const auto& keys = plan_keys();
  const std::int64_t now_s = at.keys().now_ms() / 1000;
  const source::Decision decision = source::decide(draw_schedule(random, now_s), now_s);
  const EffectWords what = std::visit(EffectWordsOf{}, decision.effect);
  world_.log("user", schedule_name + (' ' + job), "set to " + decision.schedule);
  at.run("user", store::scripts::schedule_set, {keys.schedules, keys.statuses, keys.timeline},
         {keys.work_prefix, keys.wake, job, decision.schedule, what.word, what.time});
}

void Scenario::start_schedule(const Fault& fault) {
  const auto& keys = plan_keys();
  Server& at = server(fault.server);
  const std::string job = job_named(fault.number), queue = keys.queue(code_of(job));
  Random random(fault.number);
  switch (fault.kind) {
    case FaultKind::set_schedule:
      return set_schedule(at, job, random);
    case FaultKind::run_job:
      at.run("user", store::scripts::schedule_run,
             {keys.schedules, keys.statuses, keys.timeline, keys.control, keys.paused},
             {keys.work_prefix, keys.wake, job});
      return;
    case FaultKind::unset_job:
      at.run(
          "user", store::scripts::schedule_unset,
          {keys.schedules, keys.statuses, keys.timeline, keys.failures, queue, queue + "-members"},
          {keys.work_prefix, job});
      return;
    case FaultKind::halt:
      // The HALT expires by itself, because Redis may be unavailable when the fault ends.
      at.command("operator", {"SET", keys.control, "HALT", "PX",
                              std::to_string(1 + fault.time.count() / 1000)});
      return;
    case FaultKind::redbike:
      if (at.forbidden() == "LPUSH") return;  // it uses no script and would lose the job
      return fault.number % 4 == 0 ? redbike_dispatches(at) : redbike_works(at, fault);
    case FaultKind::forbidden_step: {
      static const std::vector<std::string> steps{"HSET", "ZADD",   "RPOP", "SREM",    "SADD",
                                                  "ZREM", "RPUSH",  "HDEL", "PEXPIRE", "DEL",
                                                  "LPOS", "EXISTS", "HGET", "GETRANGE"};
      return forbid_step(fault, random.one_of(steps));
    }
    case FaultKind::pause_schedule:
      at.command("operator", {"SET", keys.paused, "for a while", "PX",
                              std::to_string(1 + fault.time.count() / 1000)});
      return;
    default: {
      Fault cancel = fault;
      cancel.kind = FaultKind::cancel;
      cancel.list = schedule_name;
      return start_order(cancel);
    }
  }
}

void Scenario::forbid_step(const Fault& fault, const std::string& step) {
  Server& at = server(fault.server);
  world_.log("fault", "", at.name() + " forbids " + step);
  promises_.error(at.name(), fault.time);
  refused_[at.name()] = world_.now() + fault.time;
  // ZADD acquires a fleet slot. The undo of an in-doubt claim releases its slot before it fails at
  // HDEL, and the reply does not show that the slot is free.
  if (step == "ZADD" || step == "HDEL") promises_.places_unknown(at, fault.time);
  at.forbid(step);
  world_.after(fault.time, [&at] { at.forbid({}); });
}

// ---- Redbike, step by step as its Python program does it

/// Runs the steps of one script of Redbike.
void Scenario::redbike_enqueues(Server& at, const std::string& job) {
  const auto& keys = plan_keys();
  const std::string code(code_of(job)), now_s = std::to_string(at.keys().now_ms() / 1000);
  if (at.command("redbike", {"SISMEMBER", keys.members(code), job}).number == 1) return;
  if (at.command("redbike", {"EXISTS", keys.working(job)}).number == 1) return;
  at.command("redbike", {"LPUSH", keys.queue(code), job});
  at.command("redbike", {"SADD", keys.members(code), job});
  at.command("redbike", {"HSET", keys.statuses, job, "ENQ:" + now_s});
}

void Scenario::redbike_dispatches(Server& at) {
  const auto& keys = plan_keys();
  const std::string now_s = std::to_string(at.keys().now_ms() / 1000);
  const Value due = at.command("redbike", {"ZRANGEBYSCORE", keys.timeline, "-inf", now_s});
  for (const Value& job : due.elements) {
    if (at.command("redbike", {"ZREM", keys.timeline, job.text}).number != 1) continue;
    world_.log("redbike", schedule_name + (' ' + job.text), "is due");
    redbike_enqueues(at, job.text);
  }
}

void Scenario::redbike_works(Server& at, const Fault& fault) {
  const auto& keys = plan_keys();
  const char* code = fault.number % 2 == 0 ? "A" : "B";
  if (at.command("redbike", {"GET", keys.control}).text == "HALT") return;
  const Value taken = at.command("redbike", {"RPOP", keys.queue(code)});
  if (taken.kind != Value::Kind::bulk) return;
  const std::string& job = taken.text;
  const std::string tag = "redbike" + std::to_string(fault.number);
  at.command("redbike", {"SREM", keys.members(code), job});
  at.command("redbike", {"SET", keys.working(job), tag, "PX", "10000"});
  at.command("redbike",
             {"HSET", keys.statuses, job, "WRK:" + std::to_string(at.keys().now_ms() / 1000)});
  dynamic_cast<ScheduleWatch&>(*promises_.watches().front()).claimed_by_another(at, job);
  world_.log("redbike", schedule_name + (' ' + job), "has claimed it");
  if (fault.number % 5 == 0) return;  // it dies
  world_.after(fault.time, [this, &at, job, tag] { redbike_ends(at, job, tag); });
}

/// Ends a run of Redbike. The current schedule decides on the disposition of the job.
void Scenario::redbike_ends(Server& at, const std::string& job, const std::string& tag) {
  const auto& keys = plan_keys();
  if (at.forbidden() == "LPUSH") return;  // it dies
  if (at.command("redbike", {"GET", keys.working(job)}).text != tag) return;
  world_.log("redbike", schedule_name + (' ' + job), "is done with it");
  at.command("redbike", {"DEL", keys.working(job)});
  const std::int64_t now = at.keys().now_ms() / 1000;
  const std::string now_s = std::to_string(now);
  const Value schedule = at.command("redbike", {"HGET", keys.schedules, job});
  if (schedule.kind != Value::Kind::bulk) {
    at.command("redbike", {"HDEL", keys.statuses, job});
    at.command("redbike", {"ZREM", keys.timeline, job});
    at.command("redbike", {"LREM", keys.queue(code_of(job)), "0", job});
    return;
  }
  const source::Decision decision = source::decide(schedule.text, now);
  at.command("redbike", {"HSET", keys.schedules, job, decision.schedule});
  const EffectWords what = std::visit(EffectWordsOf{}, decision.effect);
  if (what.word == "enqueue") return redbike_enqueues(at, job);
  const std::string event = what.word == "at" ? "TML:" : what.word == "stop" ? "STP:" : "BAD:";
  at.command("redbike", {"HSET", keys.statuses, job, event + now_s});
  if (what.word == "at") at.command("redbike", {"ZADD", keys.timeline, what.time, job});
}

// ---- the calm

/// Checks the lists of other kinds than circular at the servers of the hosts.
void Scenario::check_others() {
  for (std::size_t i = 0; i < settings_.others.size(); ++i) {
    const std::string& list = settings_.others[i].name;
    std::map<std::string, bool> room;  // by server
    for (const auto& each : hosts_) {
      const auto* supervisor = each->supervisor();
      if (supervisor == nullptr || settings_of_[each->name()].others.empty()) continue;
      if (!has_redis(*each) && settings_.others[i].kind != SourceKind::gearman) continue;
      const auto served = supervisor->lists().find(list);
      if (served == supervisor->lists().end() || served->second->state() != ServingState::serving)
        return promises_.break_promise("hosts recover without help",
                                       list + " is not served by " + each->name(), {each->name()});
      if (!has_redis(*each)) continue;  // checked at the gearmands
      const bool has = for_how_long(each->server() + ' ' + each->name() + ' ' + list,
                                    has_room(*each, *served->second)) > 5s;
      room[each->server()] = room[each->server()] || has;
    }
    for (const auto& [name, has] : room) {
      // Jobs wait for probes, but not all the time.
      const bool open = delay_by_breaker(server(name), list) > Duration{0};
      promises_.watches()[i]->check(server(name), has && !open);
      if (for_how_long("breaker " + name + ' ' + list, open && has) > 40s)
        promises_.break_promise("a breaker closes", list + " has had an open breaker for 40 s",
                                {list});
    }
  }
}

}  // namespace w8y::sim
