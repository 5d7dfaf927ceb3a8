// Runs worlds by their seeds. Prints the first broken invariant with its log lines, after faults
// that it does not need were removed.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "simulation/jobs.hpp"
#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

struct Summary {
  std::uint64_t log = 0;  ///< digest of all lines
  std::size_t lines = 0;
  Invariants::Count count;
  std::optional<Broken> broken;
  std::vector<std::string> story;
};

constexpr std::size_t max_story = 120;

bool mentions(const World::Line& line, const std::vector<std::string>& subjects) {
  if (line.who == "fault" || line.who == "promises") return true;
  for (const std::string& subject : subjects)
    if (line.who == subject || line.about == subject ||
        line.text.find(subject) != std::string::npos)
      return true;
  return false;
}

Summary run(const SceneOptions& options, std::ostream* log) {
  Scenario scene(options);
  scene.run();
  Summary summary;
  summary.count = scene.promises().count();
  summary.broken = scene.promises().broken();
  std::string all;
  for (const World::Line& line : scene.world().lines()) {
    const std::string text = World::to_text(line);
    if (log != nullptr) *log << text << '\n';
    summary.log = hash_of(text) ^ (summary.log * 0x100000001B3U);
    if (summary.broken && mentions(line, summary.broken->subjects)) summary.story.push_back(text);
  }
  summary.lines = scene.world().lines().size();
  return summary;
}

/// Returns the fewest faults that break the same invariant.
std::vector<Fault> shrink(SceneOptions options, const std::string& promise) {
  const auto still = [&] {
    const Summary summary = run(options, nullptr);
    return summary.broken && summary.broken->promise == promise;
  };
  for (std::size_t part = std::max<std::size_t>(options.faults.size() / 2, 1); part > 0; part /= 2)
    for (std::size_t at = 0; at < options.faults.size();) {
      const std::vector<Fault> all = options.faults;
      const auto first = options.faults.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last = options.faults.begin() +
                        static_cast<std::ptrdiff_t>(std::min(at + part, options.faults.size()));
      options.faults.erase(first, last);
      if (still()) continue;
      options.faults = all;
      at += part;
    }
  return options.faults;
}

void print_broken(std::ostream& out, SceneOptions options, const Summary& first, bool fewest) {
  out << "seed " << options.seed << ": BROKEN: " << first.broken->promise << ": "
      << first.broken->why << '\n';
  const std::size_t before = options.faults.size();
  if (fewest) options.faults = shrink(options, first.broken->promise);
  const Summary summary = run(options, nullptr);
  out << "  with " << options.faults.size() << " of " << before
      << " faults: " << summary.broken->why << '\n';
  for (const Fault& fault : options.faults) out << "    " << to_text(fault) << '\n';
  out << "  log:\n";
  const std::size_t from = summary.story.size() > max_story ? summary.story.size() - max_story : 0;
  for (std::size_t i = from; i < summary.story.size(); ++i)
    out << "    " << summary.story[i] << '\n';
}

struct Wishes {
  std::uint64_t seeds = 80;
  std::uint64_t first = 1;
  unsigned hosts = 0;  ///< 0 = by the seed
  unsigned lists = 0;
  unsigned jobs = 1;
  std::string time = "3m";
  bool schedule = false;  ///< false = by the seed; also below
  bool feed = false;
  bool printed = false;
  bool gearman = false;
  bool lapses = false;
  bool operators = false;
  bool redisless = false;
  bool reruns = false;
  bool removals = false;
  bool fleet = false;
  bool breakers = false;
  unsigned edition = static_cast<unsigned>(Edition::newest);
  bool log = false;
  bool all = false;    ///< continue after a broken invariant
  bool whole = false;  ///< print it with all faults
};

Duration to_duration(const std::string& text) {
  const auto count = std::stoll(text);
  switch (text.back()) {
    case 'h':
      return std::chrono::hours(count);
    case 'm':
      return std::chrono::minutes(count);
    default:
      return std::chrono::seconds(count);
  }
}

Duration time_of(const Wishes& wishes) {
  return std::max(to_duration(wishes.time), Scale::calm + Duration(std::chrono::seconds(30)));
}

SceneOptions options_of(const Wishes& wishes, std::uint64_t seed) {
  const auto edition = static_cast<Edition>(wishes.edition);
  SceneOptions options{seed, draw_scale(Random(seed).fork(8), edition), {}};
  if (wishes.hosts > 0) options.scale.hosts = wishes.hosts;
  if (wishes.lists > 0) options.scale.lists = wishes.lists;
  options.scale.schedule = options.scale.schedule || wishes.schedule;
  options.scale.feed = options.scale.feed || wishes.feed;
  options.scale.with_events = options.scale.with_events || wishes.printed;
  options.scale.fleet = options.scale.fleet || wishes.fleet;
  options.scale.breakers = options.scale.breakers || wishes.breakers;
  options.scale.redisless = options.scale.redisless || wishes.redisless;
  options.scale.reruns = options.scale.reruns || wishes.reruns;
  options.scale.removals = options.scale.removals || wishes.removals;
  options.scale.gearman = options.scale.gearman || wishes.gearman || wishes.redisless;
  options.scale.lapses = options.scale.lapses || wishes.lapses;
  options.scale.operators = options.scale.operators || wishes.operators;
  options.scale.time = time_of(wishes);
  options.faults = draw_faults(Random(seed).fork(7), options.scale);
  return options;
}

/// Returns the record of a seed: a line with numbers, then the text to print.
std::string run_seed(const Wishes& wishes, std::uint64_t seed) {
  std::ostringstream out, stats;
  const SceneOptions options = options_of(wishes, seed);
  const Summary summary = run(options, wishes.log ? &out : nullptr);
  const Invariants::Count& count = summary.count;
  if (wishes.seeds == 1 || wishes.log) {
    char digest[17];
    std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(summary.log));
    out << "seed " << seed << ": " << options.scale.hosts << " hosts, " << options.scale.lists
        << " lists, " << (options.scale.schedule ? "a schedule, " : "")
        << (options.scale.feed ? "a feed, " : "") << (options.scale.cuts ? "cuts, " : "")
        << (options.scale.with_events ? "tracking, " : "")
        << (options.scale.gearman ? "a Gearman list, " : "")
        << (options.scale.lapses ? "lapses, " : "")
        << (options.scale.operators ? "operators, " : "")
        << (options.scale.fleet ? "a fleet, " : "") << (options.scale.breakers ? "breakers, " : "")
        << (options.scale.reruns ? "reruns, " : "") << (options.scale.removals ? "removals, " : "")
        << (options.scale.redisless ? "hosts without Redis, " : "") << options.faults.size()
        << " faults, " << count.children << " runs, " << summary.lines << " lines, digest "
        << digest << '\n';
  }
  if (summary.broken) print_broken(out, options, summary, !wishes.whole);
  stats << options.scale.hosts << ' ' << options.faults.size() << ' ' << count.children << ' '
        << count.settled << ' ' << count.lapses << ' ' << count.overlaps << ' '
        << (summary.broken ? 1 : 0) << '\n';
  return stats.str() + out.str();
}

struct Sum {
  std::uint64_t seeds = 0, hosts = 0, faults = 0, runs = 0, ends = 0, lapses = 0, overlaps = 0,
                broken = 0;
};

bool add(Sum& sum, const std::string& record) {
  std::istringstream in(record);
  std::uint64_t hosts = 0, faults = 0, runs = 0, ends = 0, lapses = 0, overlaps = 0, broken = 0;
  in >> hosts >> faults >> runs >> ends >> lapses >> overlaps >> broken;
  ++sum.seeds;
  sum.hosts += hosts;
  sum.faults += faults;
  sum.runs += runs;
  sum.ends += ends;
  sum.lapses += lapses;
  sum.overlaps += overlaps;
  sum.broken += broken;
  return broken != 0;
}

int simulate(const Wishes& wishes) {
  const auto started = std::chrono::steady_clock::now();
  Sum sum;
  for_each_seed(
      {wishes.first, wishes.seeds, wishes.jobs},
      [&](std::uint64_t seed) { return run_seed(wishes, seed); },
      [&](std::uint64_t, const std::string& record) {
        const bool broken = add(sum, record);
        std::cout << record.substr(record.find('\n') + 1) << std::flush;
        return !broken || wishes.all;
      });
  const std::chrono::duration<double, std::ratio<3600>> each = time_of(wishes);
  std::ostringstream out;
  out.precision(1);
  out << std::fixed << sum.seeds << " seeds, " << static_cast<double>(sum.seeds) * each.count()
      << " virtual hours (" << static_cast<double>(sum.hosts) * each.count() << " of hosts), "
      << sum.faults << " faults, " << sum.runs << " runs, " << sum.ends << " settlements, "
      << sum.lapses << " leases that expired during a run, " << sum.overlaps
      << " permitted overlaps, " << sum.broken << " broken\n";
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  out << took.count() << " s\n";
  std::cout << out.str() << std::flush;
  return sum.broken == 0 ? 0 : 1;
}

}  // namespace

}  // namespace w8y::sim

int main(int argc, char** argv) {
  w8y::sim::Wishes wishes;
  CLI::App app("Simulate hosts on a virtual clock with faults by seed, and check the invariants");
  app.add_option("--seeds", wishes.seeds, "Number of worlds")->capture_default_str();
  app.add_option("--seed", wishes.first, "First seed")->capture_default_str();
  app.add_option("--hosts", wishes.hosts, "Number of hosts in each world (default: by its seed)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--lists", wishes.lists, "Number of lists in each world (default: by its seed)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--jobs", wishes.jobs, "Number of processes; does not change the output")
      ->capture_default_str()
      ->take_last()
      ->check(CLI::Range(1, 64));
  app.add_option("--for", wishes.time, "Virtual time of each world, such as 90s, 3m, 2h")
      ->capture_default_str();
  app.add_flag("--schedule", wishes.schedule, "Add a schedule to each world");
  app.add_flag("--feed", wishes.feed, "Add a feed of jobs to each world");
  app.add_flag("--told", wishes.printed, "Let Redis report changes of keys in each world");
  app.add_flag("--gearman", wishes.gearman, "Add a Gearman list to each world");
  app.add_flag("--lapses", wishes.lapses, "Cut hosts off right after claims in each world");
  app.add_flag("--operators", wishes.operators,
               "Add queries and changes by operators to each world");
  app.add_flag("--fleet", wishes.fleet, "Add fleet commands to each world");
  app.add_flag("--breakers", wishes.breakers, "Add breakers and outages of what runs need");
  app.add_flag("--reruns", wishes.reruns, "Mark running items to run again in each world");
  app.add_flag("--removals", wishes.removals, "Have other clients remove items in each world");
  app.add_flag("--redisless", wishes.redisless, "Add hosts without Redis, temporarily or always");
  app.add_option("--edition", wishes.edition, "Edition of the generator of worlds")
      ->capture_default_str()
      ->check(CLI::Range(1U, static_cast<unsigned>(w8y::sim::Edition::newest)));
  app.add_flag("--log", wishes.log, "Print all events");
  app.add_flag("--all", wishes.all, "Continue after a broken invariant");
  app.add_flag("--whole", wishes.whole, "Print the events with all faults, not with the fewest");
  CLI11_PARSE(app, argc, argv);
  try {
    return w8y::sim::simulate(wishes);
  } catch (const std::exception& error) {
    std::cerr << "simulate: " << error.what() << '\n';
    return 2;
  }
}
