// The command line of `w8yctl` (cli.md, "w8yctl: the operator").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/item.hpp>

namespace w8y::app::ctl {

struct Options {
  std::string command;

  // Where things are; empty: not said.
  std::string socket;
  std::string config;
  std::string redis_url;
  std::string lock_key;

  bool json = false;
  std::optional<std::string> prefix;  ///< without its final ':'
  std::vector<Item> items;            ///< for `runs` and `check-executor`: none or one
  std::string run;
  std::string program;             ///< check-executor
  std::vector<std::string> args;   ///< of the program
  std::string reason;              ///< pause; empty: not said
  std::optional<Duration> period;  ///< pause: for how long; check-executor: how long a run may take
  std::string state;               ///< items: only these; empty: all
  bool failed = false;             ///< runs: only those that did not succeed
  bool again = false;              ///< add: also what is in the list already
  std::size_t limit = 0;           ///< 0: none
};

/// Parses, or prints what was asked for or what is wrong and returns the exit status in `exit`.
bool parse_options(int argc, char** argv, Options& options, int& exit);

}  // namespace w8y::app::ctl
