// Interface of a subcommand of `w8yctl`. To add one, write a file that defines a make_…, declare it
// in commands.hpp and add a row to commands.cpp.
#pragma once

#include <memory>

#include "ctl/arguments.hpp"
#include "ctl/options.hpp"

namespace w8y::ctl {

class Context;

class Command {
 public:
  virtual ~Command() = default;
  /// Declares the subcommand's own arguments and options. Their values are set before run().
  virtual void declare(Arguments& words) = 0;
  /// Runs the subcommand and returns the exit status. Throws Failure.
  virtual int run(const Options& options, Context& context) = 0;
};

using CommandPtr = std::unique_ptr<Command>;

/// Makes a subcommand, for its row in commands.cpp.
using CommandMaker = CommandPtr (*)();

template <class Made, auto... arguments>
CommandPtr new_command() {
  return std::make_unique<Made>(arguments...);
}

}  // namespace w8y::ctl
