// What came of an order.
#pragma once

#include <string>

#include "ctl/arguments.hpp"
#include "ctl/fleet_access.hpp"
#include "ctl/options.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

class Context;

/// Which hosts an order is for: this one, unless it says otherwise.
class TargetHosts {
 public:
  void declare(Arguments& words);
  [[nodiscard]] bool others() const { return all_ || !host_.empty(); }
  [[nodiscard]] FleetCommandResult give(FleetCommandKind kind, FleetAccess& fleet) const;
  /// And tells what came of it. Returns the exit status.
  int send_command(FleetCommandKind kind, const Options& options, Context& context) const;

 private:
  std::string host_;
  bool all_ = false;
};

/// On standard output. Returns the exit status.
int print_result(const Options& options, const view::JsonFields& answer);

}  // namespace w8y::ctl
