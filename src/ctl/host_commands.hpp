// Hosts that a command is for, and output of its result.
#pragma once

#include <string>

#include "ctl/arguments.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/options.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

class Context;

/// Hosts that a command is for; by default this host.
class TargetHosts {
 public:
  void declare(Arguments& words);
  [[nodiscard]] bool others() const { return all_ || !host_.empty(); }
  [[nodiscard]] FleetCommandResult send(FleetCommandKind kind, FleetAccess& fleet) const;
  /// Sends the command and prints its result. Returns the exit status.
  int send_command(FleetCommandKind kind, const Options& options, Context& context) const;

 private:
  std::string host_;
  bool all_ = false;
};

/// Prints the result on standard output. Returns the exit status.
int print_result(const Options& options, const view::JsonFields& answer);

}  // namespace w8y::ctl
