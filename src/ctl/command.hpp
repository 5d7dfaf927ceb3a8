// What a command of `w8yctl` is made of. To add one: a file with a make_…(), its declaration in
// commands.hpp and its row in commands.cpp.
#pragma once

#include <memory>

#include "ctl/arguments.hpp"
#include "ctl/options.hpp"

namespace w8y::ctl {

class Context;

class Command {
 public:
  virtual ~Command() = default;
  /// Its own arguments and options. What they are told is taken over before run().
  virtual void declare(Arguments& words) = 0;
  /// Returns the exit status, or throws Failure.
  virtual int run(const Options& options, Context& context) = 0;
};

using CommandPtr = std::unique_ptr<Command>;

}  // namespace w8y::ctl
