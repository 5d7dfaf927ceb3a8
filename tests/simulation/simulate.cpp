// Runs worlds by their seeds; the first promise that is broken is told with its story, after faults
// that it does not need were left out.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>

#include "simulation/scene.hpp"

namespace w8y::sim {

namespace {

struct Summary {
  std::uint64_t log = 0;  ///< a digest of each line
  std::size_t lines = 0;
  Promises::Count count;
  std::optional<Broken> broken;
  std::vector<std::string> story;
};

constexpr std::size_t longest_story = 120;

bool tells_of(const World::Line& line, const std::vector<std::string>& subjects) {
  if (line.who == "fault" || line.who == "promises") return true;
  for (const std::string& subject : subjects)
    if (line.who == subject || line.about == subject ||
        line.text.find(subject) != std::string::npos)
      return true;
  return false;
}

Summary run(const SceneOptions& options, bool print) {
  Scene scene(options);
  scene.run();
  Summary summary;
  summary.count = scene.promises().count();
  summary.broken = scene.promises().broken();
  std::string all;
  for (const World::Line& line : scene.world().lines()) {
    const std::string text = World::to_text(line);
    if (print) std::cout << text << '\n';
    summary.log = hash_of(text) ^ (summary.log * 0x100000001B3U);
    if (summary.broken && tells_of(line, summary.broken->subjects)) summary.story.push_back(text);
  }
  summary.lines = scene.world().lines().size();
  return summary;
}

/// The fewest faults with which the same promise is broken.
std::vector<Fault> shrink(SceneOptions options, const std::string& promise) {
  const auto still = [&] {
    const Summary summary = run(options, false);
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

void tell_broken(SceneOptions options, const Summary& first) {
  std::cout << "seed " << options.seed << ": BROKEN: " << first.broken->promise << ": "
            << first.broken->why << '\n';
  const std::size_t before = options.faults.size();
  options.faults = shrink(options, first.broken->promise);
  const Summary summary = run(options, false);
  std::cout << "  with " << options.faults.size() << " of " << before
            << " faults: " << summary.broken->why << '\n';
  for (const Fault& fault : options.faults) std::cout << "    " << to_text(fault) << '\n';
  std::cout << "  its story:\n";
  const std::size_t from =
      summary.story.size() > longest_story ? summary.story.size() - longest_story : 0;
  for (std::size_t i = from; i < summary.story.size(); ++i)
    std::cout << "    " << summary.story[i] << '\n';
}

struct Wishes {
  std::uint64_t seeds = 20;
  std::uint64_t first = 1;
  unsigned hosts = 3;
  unsigned lists = 2;
  std::string time = "3m";
  bool log = false;
  bool all = false;  ///< go on after a broken promise
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

int simulate(const Wishes& wishes) {
  using namespace std::chrono_literals;
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t broken = 0, faults = 0;
  Promises::Count sum;
  std::uint64_t done = 0;
  Scale scale{wishes.hosts, wishes.lists, to_duration(wishes.time)};
  scale.time = std::max(scale.time, Scale::calm + Duration(30s));
  for (std::uint64_t seed = wishes.first; seed < wishes.first + wishes.seeds; ++seed) {
    SceneOptions options{seed, scale, {}};
    options.faults = draw_faults(Random(seed).fork(7), scale);
    const Summary summary = run(options, wishes.log);
    ++done;
    faults += options.faults.size();
    sum.claims += summary.count.claims;
    sum.children += summary.count.children;
    sum.lapses += summary.count.lapses;
    sum.overlaps += summary.count.overlaps;
    sum.settled += summary.count.settled;
    if (wishes.seeds == 1 || wishes.log) {
      char digest[17];
      std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(summary.log));
      std::cout << "seed " << seed << ": " << options.faults.size() << " faults, "
                << summary.count.children << " runs, " << summary.lines << " lines, digest "
                << digest << '\n';
    }
    if (!summary.broken) continue;
    ++broken;
    tell_broken(options, summary);
    if (!wishes.all) break;
  }
  const double hours = static_cast<double>(done) *
                       std::chrono::duration<double, std::ratio<3600>>(scale.time).count();
  std::printf(
      "%llu seeds, %.1f virtual hours of %u hosts, %llu faults, %llu runs, %llu ends, %llu "
      "leases that ended under a run, %llu overlaps that are allowed, %llu broken\n",
      static_cast<unsigned long long>(done), hours, wishes.hosts,
      static_cast<unsigned long long>(faults), static_cast<unsigned long long>(sum.children),
      static_cast<unsigned long long>(sum.settled), static_cast<unsigned long long>(sum.lapses),
      static_cast<unsigned long long>(sum.overlaps), static_cast<unsigned long long>(broken));
  std::cout.flush();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%.1f s\n", took.count());
  return broken == 0 ? 0 : 1;
}

}  // namespace

}  // namespace w8y::sim

int main(int argc, char** argv) {
  w8y::sim::Wishes wishes;
  CLI::App app("Runs w8yd's hosts on a virtual clock, with faults by seed, and watches promises.");
  app.add_option("--seeds", wishes.seeds, "how many worlds")->capture_default_str();
  app.add_option("--seed", wishes.first, "the first one")->capture_default_str();
  app.add_option("--hosts", wishes.hosts, "in each")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--lists", wishes.lists, "in each")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--for", wishes.time, "virtual time of each, as 90s, 3m, 2h")
      ->capture_default_str();
  app.add_flag("--log", wishes.log, "print all that happens");
  app.add_flag("--all", wishes.all, "go on after a broken promise");
  CLI11_PARSE(app, argc, argv);
  return w8y::sim::simulate(wishes);
}
