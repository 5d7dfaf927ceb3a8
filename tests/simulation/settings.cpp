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
    // Nothing else keeps it from claiming ahead.
    list.fleet_concurrency = 0;
    list.concurrency = static_cast<unsigned>(random.one_of<int>({1, 2}));
  } else if (list.work == Work::crowded) {
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
  return dice < 45   ? Work::usual
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

}  // namespace

std::string Settings::config_of(const std::string& host) const {
  // The network takes the place of TLS.
  std::string text = "[redis]\n" + line("url", "\"rediss://" + server + "\"") +
                     line("command_timeout", "\"5s\"") +
                     line("idle_commands", std::to_string(idle_commands)) + "[supervisor]\n" +
                     line("host", '"' + host + '"') + line("drain_timeout", "\"5s\"") +
                     line("max_processes", std::to_string(max_processes));
  for (const ListSettings& list : lists)
    text += "[lists." + list.name + "]\n" + line("command", "[\"/bin/work\", \"{}\"]") +
            line("concurrency", std::to_string(list.concurrency)) +
            line("fleet_concurrency", std::to_string(list.fleet_concurrency)) +
            line("lock_key", '"' + list.lock_key + '"') +
            line("key_expiry", time(list.key_expiry, "s")) +
            line("on_lease_loss", list.terminates ? "\"terminate\"" : "\"continue\"") +
            line("cooldown", time(list.cooldown, "ms")) +
            line("backoff", "{ min = " + time(list.backoff, "ms") + ", max = \"10s\" }") +
            line("max_failures", std::to_string(list.max_failures)) +
            line("timeout", time(list.timeout, "s")) +
            line("kill_grace", time(list.kill_grace, "s")) + line("history", "20");
  return text;
}

Settings draw_settings(Random& random, unsigned hosts, unsigned lists) {
  Settings settings;
  settings.idle_commands = static_cast<unsigned>(random.one_of<int>({10, 20, 100}));
  if (hosts > 4) settings.idle_commands = 10;
  settings.max_processes = static_cast<unsigned>(random.one_of<int>({0, 0, 4, 6}));
  for (unsigned i = 1; i <= lists; ++i) {
    ListSettings list;
    list.name = "list" + std::to_string(i);
    list.key_expiry = static_cast<unsigned>(random.one_of<int>({2, 3, 5, 8}));
    list.terminates = random.chance(50);
    list.work = hosts > 4 && i == 1 ? Work::crowded : draw_work(random);
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
}

}  // namespace w8y::sim
