#include "simulation/settings.hpp"

#include <algorithm>

namespace w8y::sim {

namespace {

void draw(ListSettings& list, Random& random) {
  list.concurrency = static_cast<unsigned>(random.one_of<int>({1, 2, 2, 3, 8}));
  list.fleet_concurrency = static_cast<unsigned>(random.one_of<int>({0, 0, 0, 2, 4}));
  list.cooldown = static_cast<unsigned>(random.one_of<int>({0, 200, 1000, 3000}));
  if (list.work == Work::quick || list.work == Work::uneven)
    list.cooldown = std::max(list.cooldown, 1000U);
  list.backoff = static_cast<unsigned>(random.one_of<int>({100, 500, 2000}));
  list.max_failures = static_cast<unsigned>(random.one_of<int>({0, 0, 3}));
  list.timeout = static_cast<unsigned>(random.one_of<int>({0, 0, 2}));
  list.kill_grace = static_cast<unsigned>(random.one_of<int>({1, 3}));
  if (list.work == Work::uneven) {
    // No other limit prevents the prefetch.
    list.fleet_concurrency = 0;
    list.concurrency = static_cast<unsigned>(random.one_of<int>({1, 2}));
  } else if (list.work == Work::crowded) {
    list.cooldown = 0;
    list.fleet_concurrency = 0;
  } else if (list.work == Work::scarce) {
    list.concurrency = static_cast<unsigned>(random.one_of<int>({1, 2, 4}));
    list.cooldown = 0;
    list.fleet_concurrency = 0;
  } else if (list.work == Work::large) {
    list.concurrency = static_cast<unsigned>(random.one_of<int>({8, 12}));
    list.fleet_concurrency = 0;
    list.cooldown = static_cast<unsigned>(random.one_of<int>({2000, 5000}));
  }
}

Work draw_work(Random& random) {
  const auto dice = random.below(100);
  return dice < 40   ? Work::usual
         : dice < 45 ? Work::scarce
         : dice < 60 ? Work::quick
         : dice < 80 ? Work::uneven
         : dice < 88 ? Work::crowded
                     : Work::large;
}

std::string line(const std::string& key, const std::string& value) {
  return key + " = " + value + "\n";
}

std::string time(unsigned number, const char* unit) {
  return '"' + std::to_string(number) + unit + '"';
}

std::string breaker_of(const ListSettings& list) {
  return list.breaker.empty() ? "" : line("breaker", '"' + list.breaker + '"');
}

std::string backoff_of(const ListSettings& list) {
  return line("backoff", "{ min = " + time(list.backoff, "ms") + ", max = \"10s\" }") +
         line("max_failures", std::to_string(list.max_failures)) + breaker_of(list);
}

/// Returns the settings that only lists of this kind have.
std::string of_its_kind(const ListSettings& list) {
  if (list.kind == SourceKind::circular)
    return line("lock_key", '"' + list.lock_key + '"') +
           line("cooldown", time(list.cooldown, "ms")) + backoff_of(list);
  if (list.kind == SourceKind::job)
    return line("source", "\"job\"") + line("claim_timeout", time(feed_claim_timeout_s, "s")) +
           line("maintenance_interval", time(feed_maintenance_s, "s")) + backoff_of(list);
  return line("source", "\"schedule\"") + line("queues", '"' + std::string(schedule_queues) + '"') +
         line("on_failure", '"' + list.on_failure + '"') +
         (list.on_failure == "backoff" ? backoff_of(list) : breaker_of(list));
}

std::string section_of(const ListSettings& list) {
  if (list.kind == SourceKind::gearman) return section_of_gearman(list);
  return "[lists." + list.name + "]\n" + line("command", "[\"/bin/work\", \"{}\"]") +
         line("concurrency", std::to_string(list.concurrency)) +
         line("fleet_concurrency", std::to_string(list.fleet_concurrency)) +
         line("key_expiry", time(list.key_expiry, "s")) +
         line("on_lease_loss", list.terminates ? "\"terminate\"" : "\"continue\"") +
         line("timeout", time(list.timeout, "s")) + line("kill_grace", time(list.kill_grace, "s")) +
         line("history", "20") + of_its_kind(list);
}

}  // namespace

bool Settings::has_redis() const {
  return redis || std::none_of(others.begin(), others.end(), [](const ListSettings& list) {
           return list.kind == SourceKind::gearman;
         });
}

std::string Settings::config_of(const std::string& host) const {
  // The simulated network replaces TLS.
  std::string text;
  if (has_redis())
    text = "[redis]\n" + line("url", "\"rediss://" + server + "\"") +
           line("command_timeout", "\"5s\"") + line("idle_commands", std::to_string(idle_commands));
  text += "[supervisor]\n" + line("host", '"' + host + '"') + line("drain_timeout", "\"5s\"") +
          line("host_concurrency", std::to_string(host_concurrency));
  if (has_redis())
    for (const ListSettings& list : lists) text += section_of(list);
  for (const ListSettings& list : others)
    if (has_redis() || list.kind == SourceKind::gearman) text += section_of(list);
  return text;
}

ListSettings draw_other(Random& random, SourceKind kind) {
  ListSettings list;
  list.kind = kind;
  list.name = kind == SourceKind::schedule ? schedule_name : feed_name;
  list.key_expiry = static_cast<unsigned>(random.one_of<int>({2, 3, 5, 8}));
  list.terminates = random.chance(50);
  list.on_failure = random.one_of<std::string>({"die", "reschedule", "backoff", "backoff"});
  draw(list, random);
  if (kind == SourceKind::gearman) draw_gearman(list, random);
  return list;
}

Settings draw_settings(Random& random, unsigned hosts, unsigned lists) {
  Settings settings;
  settings.idle_commands = static_cast<unsigned>(random.one_of<int>({10, 20, 100}));
  if (hosts > 4 || hosts == 1) settings.idle_commands = 10;
  settings.host_concurrency = static_cast<unsigned>(random.one_of<int>({0, 0, 4, 6}));
  for (unsigned i = 1; i <= lists; ++i) {
    ListSettings list;
    list.name = "list" + std::to_string(i);
    list.key_expiry = static_cast<unsigned>(random.one_of<int>({2, 3, 5, 8}));
    list.terminates = random.chance(50);
    list.work = draw_work(random);
    if (i == 1 && hosts > 4) list.work = Work::crowded;
    if (hosts == 1) list.work = Work::scarce;  // no other host finds its few free items
    draw(list, random);
    settings.lists.push_back(std::move(list));
  }
  return settings;
}

void change(Settings& settings, Random& random) {
  if (random.chance(25)) settings.server = settings.server == "redis1" ? "redis2" : "redis1";
  ListSettings& list = settings.lists[random.below(settings.lists.size())];
  draw(list, random);
  if (random.chance(30)) list.key_expiry = static_cast<unsigned>(random.one_of<int>({2, 5, 8}));
  if (random.chance(30)) list.terminates = !list.terminates;
  if (random.chance(20)) list.lock_key = list.lock_key == "lock" ? "proc" : "lock";
  for (ListSettings& other : settings.others)
    if (random.chance(30)) {
      const std::string breaker = other.breaker;
      other = draw_other(random, other.kind);
      other.breaker = breaker;
    }
}

}  // namespace w8y::sim
