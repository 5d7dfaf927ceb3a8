// Scenario: jobs of a feed, and their clients that are not hosts: users that put jobs, an operator,
// and a client of Thoonk's contract that claims in two steps without leases.
#include "simulation/invariants_jobs.hpp"
#include "simulation/scenario.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;
using JobFault = Fault::Kind;

/// Users put no jobs while this number is queued.
constexpr std::int64_t max_waiting = 40;

const store::FeedKeys& inbox() {
  static const store::FeedKeys keys(feed_name);
  return keys;
}

}  // namespace

void Scenario::populate_feed(Random random) {
  auto& manner = children_.manners[feed_name];
  manner.failing = static_cast<unsigned>(random.one_of<int>({0, 5, 30}));
  manner.stubborn = static_cast<unsigned>(random.one_of<int>({0, 10}));
  manner.longest = random.one_of<Duration>({100ms, 1s, 4s});
  manner.shortest = manner.longest / 8;
  put_pause_ = random.one_of<Duration>({200ms, 700ms, 2s});
  for (Server* each : {&first_, &second_})
    each->run("user", store::scripts::feed_create, {inbox().config, "feeds"},
              {feed_name, "job", "", "an instance"});
  put_jobs(random);
}

/// Puts jobs until the calm, in which all must be finished.
void Scenario::put_jobs(Random random) {
  if (world_.age() > options_.scale.time - Scale::calm) return;
  Server& at = random.chance(85) ? first_ : second_;
  const Value waiting = at.command("user", {"LLEN", inbox().ids});
  if (waiting.kind == Value::Kind::integer && waiting.number < max_waiting)
    for (auto left = random.between(1, 4); left > 0; --left) put_job(at, random);
  world_.after(random.between(put_pause_ / 4, put_pause_ * 2),
               [this, random] { put_jobs(random.fork(1)); });
}

/// Puts a job by the script of w8y, or step by step as another client does it in one transaction.
void Scenario::put_job(Server& at, Random& random) {
  const auto& keys = inbox();
  const std::string id = "job" + std::to_string(++jobs_put_);
  const std::string payload(random.chance(95) ? 10 : 200'000, 'x');
  const bool high = random.chance(20);
  world_.log("user", std::string(feed_name) + ' ' + id, "is put at " + at.name());
  if (random.chance(50)) {
    at.run("user", store::scripts::job_put,
           {keys.config, keys.ids, keys.items, keys.publishes, keys.published, keys.claimed,
            keys.cancelled, keys.stalled, "feeds"},
           {feed_name, "", keys.keep, keys.result_prefix, "", "", "", id, payload,
            high ? "hn" : "n", random.chance(50) ? "" : "60000"});
    return;
  }
  const std::string now_ms = std::to_string(at.keys().now_ms());
  if (at.command("thoonk", {high ? "RPUSH" : "LPUSH", keys.ids, id}).kind == Value::Kind::error)
    return;
  at.command("thoonk", {"INCR", keys.publishes});
  at.command("thoonk", {"HSET", keys.items, id, payload});
  at.command("thoonk", {"ZADD", keys.published, now_ms, id});
}

/// A user puts a job of the feed again with a new payload (`job put --rerun`): most are claimed.
void Scenario::put_again(const Fault& fault) {
  const auto& keys = inbox();
  Server& at = server(fault.server);
  const Hash* items = at.keys().find<Hash>(keys.items);
  const SortedSet* claimed = at.keys().find<SortedSet>(keys.claimed);
  if (items == nullptr) return;
  const std::uint64_t dice = fault.number / 4;
  std::string id =
      std::next(items->begin(), static_cast<std::ptrdiff_t>(dice % items->size()))->first;
  if (fault.number % 4 != 0 && claimed != nullptr)
    id = std::next(claimed->order().begin(), static_cast<std::ptrdiff_t>(dice % claimed->size()))
             ->second;
  // Each payload is unique.
  std::string payload = "again" + std::to_string(fault.number);
  if (dice % 16 == 0) payload.resize(200'000, 'x');
  const Value told = at.run("user", store::scripts::job_put,
                            {keys.config, keys.ids, keys.items, keys.publishes, keys.published,
                             keys.claimed, keys.cancelled, keys.stalled, "feeds"},
                            {feed_name, "", keys.keep, keys.result_prefix, "", "", "", id, payload,
                             dice % 5 == 0 ? "hr" : "r", dice % 2 == 0 ? "" : "60000"});
  world_.log("user", std::string(feed_name) + ' ' + id,
             "is put again at " + at.name() + ": " +
                 (told.elements.size() > 1 ? told.elements[1].text : told.text));
}

void Scenario::start_job(const Fault& fault) {
  const auto& keys = inbox();
  Server& at = server(fault.server);
  switch (fault.kind) {
    case JobFault::thoonk:
      return thoonk_works(at, fault);
    case JobFault::change_job: {
      static const std::vector<std::string> changes{"cancel", "stall", "retry", "retract", "next"};
      const Hash* items = at.keys().find<Hash>(keys.items);
      if (items == nullptr) return;
      const auto item =
          std::next(items->begin(), static_cast<std::ptrdiff_t>(fault.number % items->size()));
      const std::string id = item->first, what = changes[fault.number / 64 % changes.size()];
      world_.log("operator", std::string(feed_name) + ' ' + id, what);
      at.run("operator", store::scripts::job_change,
             {keys.config, keys.ids, keys.items, keys.published, keys.claimed, keys.cancelled,
              keys.stalled, keys.finishes, "feeds"},
             {feed_name, what, keys.lease_prefix, keys.taken, "", "", id});
      return;
    }
    case JobFault::pause_feed:
      at.command("operator", {"SET", keys.paused, "for a while", "PX",
                              std::to_string(1 + fault.time.count() / 1000)});
      return;
    case JobFault::forbidden_job_step: {
      static const std::vector<std::string> steps{
          "HSET",    "ZADD", "RPOP", "SADD",    "ZREM",    "LPUSH",   "RPUSH",  "HDEL",
          "PEXPIRE", "DEL",  "HGET", "HEXISTS", "HINCRBY", "ZMSCORE", "INCRBY", "GETRANGE"};
      return forbid_step(fault, steps[fault.number % steps.size()]);
    }
    default: {
      Fault cancel = fault;
      cancel.kind = JobFault::cancel;
      cancel.list = feed_name;
      return start_order(cancel);
    }
  }
}

/// Claims a job as a client of Thoonk. The client dies between the two steps of the claim, dies
/// after the claim, or ends the job.
void Scenario::thoonk_works(Server& at, const Fault& fault) {
  const auto& keys = inbox();
  const Value taken = at.command("thoonk", {"RPOP", keys.ids});
  if (taken.kind != Value::Kind::bulk) return;
  const std::string& id = taken.text;
  world_.log("thoonk", std::string(feed_name) + ' ' + id, "is popped");
  const auto claimed = [this, &at, id] {
    for (const auto& watch : promises_.watches())
      if (auto* jobs = dynamic_cast<JobWatch*>(watch.get())) jobs->claimed_by_another(at, id);
  };
  claimed();
  const auto dice = fault.number % 8;
  if (dice == 0) return;
  world_.after(dice == 1 ? Duration(300ms) : Duration{0}, [this, &at, id, dice, &fault, claimed] {
    claimed();  // the client reads the payload now
    at.command("thoonk", {"ZADD", inbox().claimed, std::to_string(at.keys().now_ms()), id});
    world_.log("thoonk", std::string(feed_name) + ' ' + id, "is claimed");
    if (dice == 2) return;
    world_.after(fault.time, [this, &at, id, dice] { thoonk_ends(at, id, dice); });
  });
}

/// Ends a job as a client of Thoonk, in one transaction.
void Scenario::thoonk_ends(Server& at, const std::string& id, std::uint64_t dice) {
  const auto& keys = inbox();
  if (at.command("thoonk", {"ZRANK", keys.claimed, id}).kind != Value::Kind::integer) return;
  // The claim was recovered, and a host has claimed the job since. The contract would permit the
  // client to finish it, but this client stops.
  if (at.command("thoonk", {"HEXISTS", keys.taken, id}).number == 1) return;
  if (at.command("thoonk", {"ZREM", keys.claimed, id}).kind == Value::Kind::error) return;
  if (dice == 3) {
    world_.log("thoonk", std::string(feed_name) + ' ' + id, "cancels it");
    at.command("thoonk", {"HINCRBY", keys.cancelled, id, "1"});
    at.command("thoonk", {"LPUSH", keys.ids, id});
  } else if (dice == 4) {
    world_.log("thoonk", std::string(feed_name) + ' ' + id, "stalls it");
    at.command("thoonk", {"HDEL", keys.cancelled, id});
    at.command("thoonk", {"SADD", keys.stalled, id});
    at.command("thoonk", {"ZREM", keys.published, id});
  } else {
    world_.log("thoonk", std::string(feed_name) + ' ' + id, "has finished it");
    at.command("thoonk", {"HDEL", keys.cancelled, id});
    at.command("thoonk", {"INCR", keys.finishes});
    at.command("thoonk", {"PUBLISH", keys.finish_channel, id});
    at.command("thoonk", {"HDEL", keys.items, id});
  }
}

}  // namespace w8y::sim
