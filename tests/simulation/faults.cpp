#include "simulation/faults.hpp"

#include <algorithm>
#include <array>

namespace w8y::sim {

namespace {

struct KindOfFault {
  const char* name;
  unsigned weight;
  Duration longest;
};
using namespace std::chrono_literals;
/// In the order of Fault::Kind.
constexpr std::array<KindOfFault, static_cast<std::size_t>(Fault::Kind::last) + 1> kinds{{
    {"slow line", 6, 20s},
    {"held line", 6, 20s},
    {"refused line", 2, 10s},
    {"broken connection", 6, 0s},
    {"lost request", 6, 0s},
    {"lost reply", 8, 0s},
    {"half a reply", 4, 0s},
    {"reply twice", 2, 0s},
    {"restart", 3, 5s},
    {"restart that loses writes", 1, 3s},
    {"hanging server", 3, 12s},
    {"read-only server", 2, 8s},
    {"full server", 2, 8s},
    {"moved server", 1, 0s},
    {"forbidden command", 2, 10s},
    {"slow server", 3, 10s},
    {"stall", 8, 15s},
    {"death", 6, 10s},
    {"date", 2, 0s},
    {"reload", 6, 0s},
    {"quiet", 2, 8s},
    {"pause", 2, 8s},
    {"cancel", 4, 0s},
    {"run item", 4, 0s},
    {"quarantine", 3, 0s},
    {"release", 3, 0s},
    {"add", 5, 0s},
    {"remove", 4, 0s},
    {"item twice", 2, 0s},
    {"empty list", 1, 6s},
    {"large item", 2, 12s},
    {"foreign client", 5, 4s},
    {"noise", 2, 2s},
    {"set schedule", 8, 0s},
    {"run job", 4, 0s},
    {"unset job", 1, 0s},
    {"halt", 1, 6s},
    {"redbike", 8, 20s},
    {"forbidden step", 3, 6s},
    {"pause of schedule", 2, 6s},
    {"cancel of job", 3, 0s},
    {"thoonk client", 10, 30s},
    {"change of job", 5, 0s},
    {"pause of feed", 2, 6s},
    {"forbidden step of jobs", 3, 6s},
    {"cancel of feed job", 3, 0s},
    {"request cut off", 8, 0s},
    {"loss of a later reply", 8, 0s},
    {"nothing", 3, 12s},
    {"nothing", 8, 0s},
    {"tracking forbidden", 2, 20s},
    {"user adds", 8, 0s},
    {"bad line to gearmand", 8, 45s},
    {"broken line to gearmand", 10, 0s},
    {"restart of gearmand", 3, 5s},
    {"hanging gearmand", 4, 45s},
    {"other worker", 6, 6s},
    {"many jobs", 3, 0s},
    {"client leaves", 4, 0s},
    {"change of Gearman list", 5, 0s},
    {"pause of Gearman list", 2, 6s},
    {"cancel of Gearman job", 4, 0s},
    {"cut off after claim", 8, 0s},
    {"cut off after lost lock", 4, 0s},
    {"query of items", 6, 0s},
    {"other query", 8, 0s},
    {"change of items", 12, 0s},
    {"bad line of an operator", 4, 8s},
    {"Redis added to config or removed", 1, 0s},
    {"command for a schedule", 1, 6s},
    {"command for a feed", 1, 12s},
    {"fleet command", 1, 10s},
    {"outage upstream", 1, 40s},
    {"rerun", 1, 0s},
    {"removal", 1, 6s},
    {"rerun of a job", 1, 0s},
}};

/// Draws a kind from `first` to `last` by its weight.
Fault::Kind draw_kind(Random& random, Fault::Kind first, Fault::Kind last) {
  const auto begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(last) + 1;
  unsigned sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += kinds[i].weight;
  auto dice = static_cast<unsigned>(random.below(sum));
  std::size_t kind = begin;
  while (dice >= kinds[kind].weight) dice -= kinds[kind++].weight;
  return static_cast<Fault::Kind>(kind);
}

Fault draw_fault(Random& random, const Scale& scale, Duration at, Fault::Kind kind) {
  Fault fault;
  fault.kind = kind;
  fault.at = at;
  fault.host = "h" + std::to_string(1 + random.below(scale.hosts));
  fault.server = random.chance(85) ? "redis1" : "redis2";
  fault.list = "list" + std::to_string(1 + random.below(scale.lists));
  fault.number = random.next();
  const Duration end = scale.time - Scale::calm;
  const Duration longest = std::min(kinds[static_cast<std::size_t>(kind)].longest, end - at);
  // Most faults are short, but some last longer than a lease.
  fault.time = random.between(Duration{0}, random.chance(50) ? longest / 8 : longest);
  return fault;
}

}  // namespace

const char* name_of(Fault::Kind kind) {
  return kinds[static_cast<std::size_t>(kind)].name;
}

std::string to_text(const Fault& fault) {
  std::string text = std::to_string(fault.at.count() / 1000) + " ms: " + name_of(fault.kind) +
                     ", " + fault.host + ", " + fault.server + ", " + fault.list;
  if (fault.time > Duration{0})
    text += ", for " + std::to_string(fault.time.count() / 1000) + " ms";
  return text;
}

Scale draw_scale(Random random, Edition edition) {
  // Additions of later editions do not change the draws of the first one.
  Random later = random.fork(2), latest = random.fork(3), fourth = random.fork(4);
  Random fifth = random.fork(5), sixth = random.fork(6);
  Scale scale;
  scale.edition = edition;
  scale.hosts = static_cast<unsigned>(random.one_of<int>({2, 3, 3, 3, 4, 8}));
  scale.lists = static_cast<unsigned>(random.one_of<int>({1, 2, 2, 3}));
  scale.schedule = random.chance(18);
  scale.feed = random.chance(18);
  if (random.chance(6)) scale.hosts = 1;
  scale.cuts = random.chance(17);
  scale.with_events = random.chance(17);
  scale.gearman = random.chance(18);
  if (edition == Edition::first) return scale;
  if (later.chance(12)) scale.cuts = true;
  scale.lapses = later.chance(35) || scale.cuts;
  scale.operators = later.chance(30);
  if (edition == Edition::second) return scale;
  scale.redisless = latest.chance(12);
  scale.gearman = scale.gearman || scale.redisless;
  scale.fleet = latest.chance(25);
  if (scale.schedule || scale.feed) scale.operators = scale.operators || latest.chance(40);
  if (edition == Edition::third) return scale;
  scale.breakers = fourth.chance(30);
  if (edition == Edition::fourth) return scale;
  scale.reruns = fifth.chance(40);
  if (edition == Edition::fifth) return scale;
  scale.removals = sixth.chance(40);
  return scale;
}

std::vector<Fault> draw_faults(Random random, const Scale& scale) {
  std::vector<Fault> faults;
  // Faults of other kinds of lists do not change the faults of circular lists.
  const Random others = random.fork(1);
  const Duration end = scale.time - Scale::calm;
  // 12 % of the seeds have at most a few faults. The others have one every 0.5 s to 6 s on average.
  const Duration pause = random.chance(12) ? end : random.between(Duration(500ms), Duration(6s));
  for (Duration at = 2s; at < end; at += random.between(pause / 4, pause * 7 / 4)) {
    const Fault::Kind kind = draw_kind(random, Fault::Kind::slow_line, Fault::Kind::last_of_lists);
    faults.push_back(draw_fault(random, scale, at, kind));
  }
  const auto add = [&](Random of_kind, Fault::Kind first, Fault::Kind last) {
    for (Duration at = 2s; at < end; at += of_kind.between(pause / 2, pause * 2))
      faults.push_back(draw_fault(of_kind, scale, at, draw_kind(of_kind, first, last)));
  };
  if (scale.schedule)
    add(others.fork(1), Fault::Kind::set_schedule, Fault::Kind::last_of_schedules);
  if (scale.feed) add(others.fork(2), Fault::Kind::thoonk, Fault::Kind::last_of_feeds);
  if (scale.cuts) add(others.fork(3), Fault::Kind::cut_request, Fault::Kind::last_of_cuts);
  if (scale.with_events) add(others.fork(4), Fault::Kind::untold, Fault::Kind::last_of_told);
  if (scale.gearman) add(others.fork(5), Fault::Kind::gearman_line, Fault::Kind::last_of_gearman);
  if (scale.lapses) add(others.fork(6), Fault::Kind::lapse, Fault::Kind::last_of_lapses);
  if (scale.operators)
    add(others.fork(7), Fault::Kind::query_items, Fault::Kind::last_of_operators);
  if (scale.redisless)
    add(others.fork(8), Fault::Kind::change_redis, Fault::Kind::last_of_redisless);
  if (scale.fleet) add(others.fork(11), Fault::Kind::fleet_order, Fault::Kind::fleet_order);
  if (scale.breakers) {
    Random outages = others.fork(12);
    for (Duration at = 5s; at < end; at += outages.between(Duration(10s), Duration(50s)))
      faults.push_back(draw_fault(outages, scale, at, Fault::Kind::upstream_outage));
  }
  if (scale.reruns) {
    Random reruns = others.fork(13);
    for (Duration at = 2s; at < end; at += reruns.between(Duration(100ms), Duration(3s)))
      faults.push_back(draw_fault(reruns, scale, at, Fault::Kind::rerun));
  }
  if (scale.removals) {
    Random removals = others.fork(14);
    for (Duration at = 2s; at < end; at += removals.between(Duration(100ms), Duration(3s)))
      faults.push_back(draw_fault(removals, scale, at, Fault::Kind::removal));
  }
  if (scale.edition >= Edition::sixth && scale.feed) {
    Random reruns = others.fork(15);
    for (Duration at = 2s; at < end; at += reruns.between(Duration(50ms), Duration(1s)))
      faults.push_back(draw_fault(reruns, scale, at, Fault::Kind::rerun_of_job));
  }
  if (scale.edition < Edition::third || !scale.operators) return faults;
  if (scale.schedule)
    add(others.fork(9), Fault::Kind::command_of_schedule, Fault::Kind::command_of_schedule);
  if (scale.feed) add(others.fork(10), Fault::Kind::command_of_feed, Fault::Kind::command_of_feed);
  return faults;
}

}  // namespace w8y::sim
