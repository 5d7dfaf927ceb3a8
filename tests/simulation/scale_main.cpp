// Prints a table of the load of one Redis by fleets of several sizes.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/list_config.hpp"
#include "simulation/scale.hpp"
#include "store/scripts.hpp"

namespace w8y::sim {

namespace {

void print_times(const MeasuredTimes& times, bool measured) {
  std::printf("Time of one Redis for a call, %s:\n",
              measured ? "measured on a redis-server (µs of processor time)"
                       : "from an earlier measurement (µs)");
  std::printf(
      "  connection %.1f, read and write %.1f, message to a subscriber %.2f, "
      "channel subscribed %.2f, byte of a new script %.4f\n",
      times.connection / 1000, times.read / 1000, times.message / 1000, times.subscribe / 1000,
      times.script_byte / 1000);
  namespace scripts = store::scripts;
  for (const redis::Script* script :
       {&scripts::claim, &scripts::renew, &scripts::settle, &scripts::peek}) {
    const CallTime& line = times.of(script);
    std::printf("  %-8s %5.1f, %.2f per key that it looks up, %.2f per key that it writes\n",
                std::string(script->name).c_str(), line.base / 1000, line.find_account / 1000,
                line.write / 1000);
  }
  for (const auto& sample : times.samples) {
    std::printf("  %-20s %7.1f measured, %7.1f used\n", sample.what.c_str(), sample.ns / 1000,
                sample.by(times.of(sample.script)) / 1000);
  }
}

struct Row {
  FleetSize size;
  FleetFigures stats;
};

std::string time_text(double s, unsigned limit = 600) {
  char text[32];
  if (s < 0) return "> " + std::to_string(limit);
  std::snprintf(text, sizeof text, "%.2f", s);
  return text;
}

void print_rest(const Row& row) {
  const FleetFigures& f = row.stats;
  const auto mark = [](bool at_rest) { return at_rest ? ' ' : '*'; };
  std::printf("%6u %7u | %10.0f %6.1f%%%c| %10.0f %6.1f%%%c| %9.1f %9.1f | %9.1f %9.1f %6u\n",
              row.size.hosts, row.size.lists, f.rest_per_s, 100 * f.rest_busy, mark(f.at_rest),
              f.locked_per_s, 100 * f.locked_busy, mark(f.locked_at_rest), f.wake_told_ms,
              f.wake_told_worst_ms, f.wake_ms, f.wake_worst_ms, f.unseen);
}

void print_work(const Row& row) {
  const FleetFigures& f = row.stats;
  std::printf("%6u %7u | %8s %10.0f %10.0f %8.0f %6.2f %6.1f%% | %5.2f %5.2f\n", row.size.hosts,
              row.size.lists, time_text(f.settled_s, 120).c_str(), f.work_per_s, f.messages_per_s,
              f.runs_per_s, f.commands_per_run, 100 * f.work_busy, f.min_host, f.max_host);
}

void print_back(const Row& row) {
  const FleetFigures& f = row.stats;
  std::printf("%6u %7u | %8s %10.0f | %8s %10.0f %6llu\n", row.size.hosts, row.size.lists,
              time_text(f.start_s).c_str(), f.start_commands, time_text(f.back_s).c_str(),
              f.back_commands, static_cast<unsigned long long>(f.back_lost));
}

/// Prints the factors for ten times as many hosts or lists.
void print_growth(const std::vector<Row>& rows) {
  std::printf("\nFactors for ten times as many hosts or lists\n");
  std::printf("%-32s %8s %8s %8s %8s %8s %8s %8s\n", "", "idle c/s", "idle bsy", "msg ms",
              "cmd/run", "work bsy", "back s", "back cmd");
  const auto times = [](double less, double more) { return less > 0 ? more / less : 0; };
  for (const Row& less : rows)
    for (const Row& more : rows) {
      const bool hosts = more.size.hosts == less.size.hosts * 10;
      const bool lists = more.size.lists == less.size.lists * 10;
      if (hosts == lists) continue;
      if (hosts ? more.size.lists != less.size.lists : more.size.hosts != less.size.hosts) continue;
      const FleetFigures &a = less.stats, &b = more.stats;
      char what[64];
      std::snprintf(what, sizeof what, "%u to %u %s, %u %s",
                    hosts ? less.size.hosts : less.size.lists,
                    hosts ? more.size.hosts : more.size.lists, hosts ? "hosts" : "lists",
                    hosts ? less.size.lists : less.size.hosts, hosts ? "lists" : "hosts");
      std::printf("%-32s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f\n", what,
                  times(a.rest_per_s, b.rest_per_s), times(a.rest_busy, b.rest_busy),
                  times(a.wake_told_ms, b.wake_told_ms),
                  times(a.commands_per_run, b.commands_per_run), times(a.work_busy, b.work_busy),
                  times(a.back_s, b.back_s), times(a.back_commands, b.back_commands));
    }
}

void print(const std::vector<Row>& rows) {
  std::printf(
      "\nIdle: lists are empty, or all 4 items are locked; time from a push to its claim, with a "
      "message and without (ms); *: hosts keep claiming\n");
  std::printf("%6s %7s | %10s %7s | %10s %7s | %9s %9s | %9s %9s %6s\n", "hosts", "lists",
              "commands/s", "busy", "locked", "busy", "message", "worst", "without", "worst",
              "missed");
  for (const Row& row : rows) print_rest(row);
  std::printf(
      "\nActive: %u runs at once on each host, of %.0f s; fairness: fewest and most runs of a "
      "host\n",
      places_of_host, run_s);
  std::printf("%6s %7s | %8s %10s %10s %8s %6s %7s | %5s %5s\n", "hosts", "lists", "settled s",
              "commands/s", "messages/s", "runs/s", "c/run", "busy", "least", "most");
  for (const Row& row : rows) print_work(row);
  std::printf("\nAll hosts at once: time until each host has polled each list (s)\n");
  std::printf("%6s %7s | %8s %10s | %8s %10s %6s\n", "hosts", "lists", "start", "commands", "back",
              "commands", "lost");
  for (const Row& row : rows) print_back(row);
  print_growth(rows);
}

/// Returns the requirement that a size does not meet, or an empty string.
std::string wrong_with(const Row& row) {
  const FleetFigures& f = row.stats;
  const std::string who =
      std::to_string(row.size.hosts) + " hosts, " + std::to_string(row.size.lists) + " lists: ";
  if (f.unseen > 0) return who + "a push is not claimed";
  if (!f.at_rest || !f.locked_at_rest) return who + "lists do not become idle";
  const unsigned idle_commands =
      row.size.idle_commands > 0 ? row.size.idle_commands : RedisSettings{}.idle_commands;
  if (std::max(f.rest_per_s, f.locked_per_s) > row.size.hosts * idle_commands)
    return who + "idle lists cost more than idle_commands";
  if (f.start_s < 0 || f.back_s < 0) return who + "not all hosts have polled all lists";
  if (f.back_lost > 0) return who + "connections are closed while all hosts reconnect";
  if (f.settled_s < 0) return who + "slots are not in use";
  if (f.commands_per_run > 4) return who + "a run costs more than 4 commands";
  // With more messages, each settlement notifies each host, and not only the hosts that need free
  // items.
  if (f.messages_per_s > f.runs_per_s * std::max(1.0, row.size.hosts / 4.0))
    return who + "busy hosts are notified of the runs of other hosts";
  if (f.min_host < 0.5) return who + "a host has less than half of its share";
  return {};
}

FleetSize size_of(const std::string& text, FleetSize size) {
  char end = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &size.hosts, &size.lists, &end) != 2 ||
      size.hosts == 0 || size.lists == 0)
    throw std::runtime_error(text + " is not a size; use HOSTSxLISTS, such as 10x100");
  return size;
}

struct Wishes {
  std::vector<std::string> sizes{"1x10",      "10x10",    "100x10",   "1000x10",  "1x100",
                                 "10x100",    "100x100",  "1000x100", "1x1000",   "10x1000",
                                 "1x10000",   "100x1000", "1x100000", "10x10000", "1000x1000",
                                 "100x10000", "10x100000"};
  bool usual = false;
  bool check = false;
  FleetSize like;  ///< settings without hosts and lists
};

int scale(const Wishes& wishes) {
  const auto started = std::chrono::steady_clock::now();
  const MeasuredTimes times = wishes.usual ? usual_times() : measure_times();
  print_times(times, !wishes.usual);
  std::vector<Row> rows;
  for (const std::string& text : wishes.sizes) {
    const FleetSize size = size_of(text, wishes.like);
    const auto progress = [&](const std::string& what, Duration age) {
      std::fprintf(stderr, "%s: %s after %.1f s, and %.1f s of the processor\n", text.c_str(),
                   what.c_str(), std::chrono::duration<double>(age).count(),
                   static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    };
    rows.push_back({size, measure_fleet(size, times, progress)});
  }
  print(rows);
  std::cout.flush();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  std::printf("%.1f s\n", took.count());
  if (!wishes.check) return 0;
  for (const Row& row : rows) {
    const std::string wrong = wrong_with(row);
    if (wrong.empty()) continue;
    std::printf("%s\n", wrong.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

}  // namespace w8y::sim

int main(int argc, char** argv) {
  w8y::sim::Wishes wishes;
  CLI::App app("Simulate the load of one Redis by fleets of several sizes");
  app.add_option("SIZE", wishes.sizes, "HOSTSxLISTS, such as 10x100 (default: many, for an hour)");
  app.add_flag("--usual-times", wishes.usual,
               "Use earlier times of Redis: same table on each machine");
  app.add_flag("--check", wishes.check, "Fail if a requirement is not met");
  app.add_option("--idle-commands", wishes.like.idle_commands,
                 "idle_commands of each host (default: that of w8yd)");
  app.add_flag("--tracking", wishes.like.tracking, "Let Redis report each push (CLIENT TRACKING)");
  CLI11_PARSE(app, argc, argv);
  try {
    return w8y::sim::scale(wishes);
  } catch (const std::exception& error) {
    std::cerr << "scale: " << error.what() << '\n';
    return 2;
  }
}
