// Orders to this host.
#include "app/ctl/orders.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <thread>

#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"
#include "process/fd.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

void declare_other_hosts(Words& words) {
  words.later("--host");
  words.later("--all");
}

class Quiet final : public Command {
 public:
  void declare(Words& words) override { declare_other_hosts(words); }
  int run(const Options& options, Context& context) override {
    return tell(options, context.host().order("/api/v1/quiet"));
  }
};

class Reload final : public Command {
 public:
  void declare(Words& words) override { declare_other_hosts(words); }
  int run(const Options& options, Context& context) override {
    return tell(options, context.host().order("/api/v1/reload"));
  }
};

/// A process that is there; none where its pid means another one here (a container's).
process::Fd process_of(std::int64_t pid) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
  if (pid <= 0 || name != "w8yd") return {};
  return process::Fd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

class Drain final : public Command {
 public:
  void declare(Words& words) override {
    words.flag("--wait", "Return when w8yd has ended", wait_);
    declare_other_hosts(words);
  }

  int run(const Options& options, Context& context) override {
    const Json before = wait_ ? context.host().ask("/api/v1/status?lists=no") : Json();
    const process::Fd process = wait_ ? process_of(number_in(before, "pid")) : process::Fd();
    Json answer = context.host().order("/api/v1/drain");
    if (!wait_) return tell(options, answer);
    if (!options.json) std::cout << text_in(answer, "text") << std::endl;
    if (process) {
      wait_for(process);
    } else {
      wait_for_socket(context, raw_in(before, "host_id"));
    }
    answer["result"] = "done";
    answer["text"] = "w8yd has ended";
    return tell(options, answer);
  }

 private:
  static void wait_for(const process::Fd& process) {
    pollfd end{process.get(), POLLIN, 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
  }
  /// Until it is taken away, or another w8yd's.
  static void wait_for_socket(Context& context, const std::string& host_id) {
    while (access(context.host().socket().c_str(), F_OK) == 0) {
      const auto status = context.try_ask("/api/v1/status?lists=no");
      if (status && raw_in(*status, "host_id") != host_id) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  bool wait_ = false;
};

}  // namespace

int tell(const Options& options, const Json& answer) {
  if (options.json) {
    print_json(answer);
    return done;
  }
  std::cout << text_in(answer, "text") << '\n';
  for (const auto& line : array_in(answer, "lines"))
    if (line.is_string()) std::cout << "  " << escape(line.get<std::string>()) << '\n';
  return done;
}

CommandPtr make_quiet() {
  return std::make_unique<Quiet>();
}

CommandPtr make_reload() {
  return std::make_unique<Reload>();
}

CommandPtr make_drain() {
  return std::make_unique<Drain>();
}

}  // namespace w8y::app::ctl
