// Compares the simulation's keys, commands and Lua with a redis-server (comparison.hpp).
#include <CLI/CLI.hpp>

#include <cstdint>
#include <exception>
#include <iostream>

#include "simulation/comparison.hpp"

int main(int argc, char** argv) {
  std::uint64_t steps = 4000, seed = 1;
  CLI::App app("Compare the simulation's keys, commands and Lua with a redis-server");
  app.add_option("--steps", steps, "Number of calls and steps of time")->capture_default_str();
  app.add_option("--seed", seed, "Seed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    w8y::sim::Comparison comparison(seed);
    for (std::uint64_t i = 1; i <= steps; ++i) {
      comparison.step();
      if (i % 100 == 0 || i == steps) comparison.compare_news();
    }
    std::cout << steps << " steps from seed " << seed << ": model and Redis agree\n";
    return 0;
  } catch (const std::exception& error) {
    std::cout << "seed " << seed << ": " << error.what() << '\n';
    return 1;
  }
}
