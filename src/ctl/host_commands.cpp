// Subcommands that send a command to this host.
#include "ctl/host_commands.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <thread>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/fd.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/text.hpp"
#include "view/host_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

/// Sends a command that needs no more than its hosts.
class PlainCommand final : public Command {
 public:
  explicit PlainCommand(FleetCommandKind kind) : kind_(kind) {}
  void declare(Arguments& words) override { hosts_.declare(words); }
  int run(const Options& options, Context& context) override {
    return hosts_.send_command(kind_, options, context);
  }

 private:
  FleetCommandKind kind_;
  TargetHosts hosts_;
};

/// Returns a descriptor of the process; none if its PID means another process here (w8yd in a
/// container).
Fd process_of(std::int64_t pid) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
  if (pid <= 0 || name != "w8yd") return {};
  return Fd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

class Drain final : public Command {
 public:
  void declare(Arguments& words) override {
    words.flag("--wait", "Return when w8yd has ended", wait_);
    hosts_.declare(words);
  }

  int run(const Options& options, Context& context) override {
    if (hosts_.others()) return drain_others(options, context);
    HostStatus before;
    if (wait_) before = view::read_host(context.host().request(api::endpoints::status_of_host()));
    const Fd process = process_of(before.pid);
    const JsonFields answer = context.host().send_command(FleetCommandKind::drain);
    if (!wait_) return print_result(options, answer);
    if (!options.json) std::cout << escape(answer.text("text")) << std::endl;
    if (process) {
      wait_for(process);
    } else {
      wait_for_socket(context, before.host_id);
    }
    return print_result(options,
                        JsonFields::parse(R"({"result":"done","text":"w8yd has ended"})").value());
  }

 private:
  static void wait_for(const Fd& process) {
    pollfd end{process.get(), POLLIN, 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
  }
  /// Waits until the socket is removed or belongs to another w8yd.
  static void wait_for_socket(Context& context, const std::string& host_id) {
    while (access(context.host().socket().c_str(), F_OK) == 0) {
      const auto status = context.try_request(api::endpoints::status_of_host());
      if (status && view::read_host(*status).host_id != host_id) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  int drain_others(const Options& options, Context& context) const {
    FleetAccess fleet(options, context);
    const FleetCommandResult answer = hosts_.send(FleetCommandKind::drain, fleet);
    if (wait_)
      for (const FleetReply& host : answer.replies)
        while (is_there(fleet, host.host_id))
          std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return print_fleet_result(options, answer);
  }
  /// Returns whether the host is still in the fleet. A host that has drained leaves it; the w8yd of
  /// this host then no longer responds.
  static bool is_there(FleetAccess& fleet, const std::string& host_id) {
    try {
      const FleetView view = fleet.read(false);
      return std::any_of(view.hosts.begin(), view.hosts.end(),
                         [&](const FleetHost& host) { return host.heartbeat.id == host_id; });
    } catch (const Failure&) {
      return false;
    }
  }

  TargetHosts hosts_;
  bool wait_ = false;
};

}  // namespace

void TargetHosts::declare(Arguments& words) {
  words.option("--host", "HOST", "the name or the ID of a host", "Another host, or this one",
               host_);
  words.flag("--all", "All hosts of the fleet", all_);
  words.then([this] {
    if (all_ && !host_.empty()) throw Failure(wrong_usage, "--host and --all exclude each other");
  });
}

FleetCommandResult TargetHosts::send(FleetCommandKind kind, FleetAccess& fleet) const {
  FleetCommand order;
  order.kind = kind;
  order.host = host_;
  return fleet.send(std::move(order));
}

int TargetHosts::send_command(FleetCommandKind kind, const Options& options,
                              Context& context) const {
  if (!others()) return print_result(options, context.host().send_command(kind));
  FleetAccess fleet(options, context);
  return print_fleet_result(options, send(kind, fleet));
}

int print_result(const Options& options, const JsonFields& answer) {
  if (options.json) {
    print_json(answer);
    return done;
  }
  std::cout << escape(answer.text("text")) << '\n';
  for (const std::string& line : answer.texts("lines")) std::cout << "  " << escape(line) << '\n';
  return done;
}

const CommandMaker make_quiet = new_command<PlainCommand, FleetCommandKind::quiet>;
const CommandMaker make_reload = new_command<PlainCommand, FleetCommandKind::reload>;
const CommandMaker make_drain = new_command<Drain>;

}  // namespace w8y::ctl
