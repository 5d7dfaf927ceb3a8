// A list's pause: on all hosts, by a key in Redis.
#include <pwd.h>
#include <unistd.h>

#include <iostream>

#include <w8y/config.hpp>
#include <w8y/escape.hpp>
#include <w8y/units.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// Who asks later wants to know whom to ask.
std::string usual_reason() {
  const passwd* account = getpwuid(getuid());
  const std::string who = account != nullptr ? account->pw_name : std::to_string(getuid());
  return "by " + who + " on " + system_config_host().hostname();
}

}  // namespace

int pause(const Options& options, Site& site) {
  const std::string& prefix = *options.prefix;
  site.must_exist(prefix);
  const source::CircularKeys keys = site.keys(prefix);
  const std::string reason = options.reason.empty() ? usual_reason() : options.reason;
  redis::Command set = {"SET", keys.paused, reason};
  std::string life;
  if (options.period) {
    life = std::to_string(
        std::chrono::duration_cast<std::chrono::milliseconds>(*options.period).count());
    set.insert(set.end(), {"PX", life});
  }
  site.redis().call(set);
  // So that hosts which wait for work see, and say, that they are paused.
  site.redis().call({"PUBLISH", keys.wake, "paused"});
  if (options.json) {
    Json json = {{"result", "paused"}};
    ops::put_bytes(json, "list", prefix);
    ops::put_bytes(json, "reason", reason);
    json["until_ms"] =
        options.period
            ? Json((wall_now() + std::chrono::duration_cast<WallTime>(*options.period)).count())
            : Json();
    print_json(json);
    return done;
  }
  std::cout << escape_text(prefix) << ": paused on all hosts: " << escape(reason);
  if (options.period) std::cout << "; for " << format_duration(*options.period);
  std::cout << '\n';
  return done;
}

int end_pause(const Options& options, Site& site) {
  const std::string& prefix = *options.prefix;
  site.must_exist(prefix);
  const source::CircularKeys keys = site.keys(prefix);
  const bool was_paused = site.redis().call({"DEL", keys.paused}).number > 0;
  if (was_paused) site.redis().call({"PUBLISH", keys.wake, "resumed"});
  if (options.json) {
    Json json = {{"result", was_paused ? "resumed" : "was not paused"}};
    ops::put_bytes(json, "list", prefix);
    print_json(json);
    return done;
  }
  std::cout << escape_text(prefix) << ": "
            << (was_paused ? "takes work again on all hosts" : "was not paused") << '\n';
  return done;
}

}  // namespace w8y::app::ctl
