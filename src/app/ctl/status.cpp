// This host at a glance: what is wrong comes first.
#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// Also where there is none, and none is needed.
bool redis_usable(const Json& host) {
  const Json& redis = object_in(host, "redis");
  return !host.value("has_redis", true) ||
         (redis.value("connected", false) && text_in(redis, "trouble").empty());
}

constexpr const char* without_redis =
    "none in the config: no history of runs, no pauses, and this host is in no fleet";

/// "2 of 2 lists connected, 5 jobs here"
std::string gearman_text(const Json& server) {
  std::string text = text_in(server, "server") + ", " +
                     std::to_string(number_in(server, "connected")) + " of " +
                     std::to_string(number_in(server, "lists")) + " lists connected";
  if (const auto jobs = number_in(server, "jobs"); jobs > 0)
    text += ", " + std::to_string(jobs) + (jobs == 1 ? " job here" : " jobs here");
  if (const std::string trouble = text_in(server, "trouble"); !trouble.empty())
    text += "; since " + time_text(ms_in(server, "away_since_ms")) + ": " + trouble;
  return text;
}

std::string redis_text(const Json& redis) {
  const bool connected = redis.value("connected", false);
  const std::string trouble = text_in(redis, "trouble");
  std::string text = text_in(redis, "url") + (connected ? ", connected" : ", not connected");
  if (trouble.empty()) return text;
  return text + (connected ? ", but can't be used: " : ": ") + trouble;
}

/// How many locks there are, whether some were lost, and how near it came to that.
std::string locks_text(const Json& redis, const Json& totals) {
  const std::int64_t lost = number_in(totals, "leases_lost");
  const std::int64_t still_lost = number_in(totals, "leases_lost_now");
  std::string text = std::to_string(number_in(redis, "leases")) + " held";
  if (still_lost > 0) text += "; " + std::to_string(still_lost) + " lost now";
  if (lost > still_lost)
    text += "; " + std::to_string(lost - still_lost) + (lost - still_lost == 1 ? " was" : " were") +
            " lost since the start, and taken back or over";
  const auto margin = redis.find("lease_margin_ms");
  if (margin != redis.end() && margin->is_number() && margin->get<std::int64_t>() >= 0)
    text += "; renewed with " + rough_duration(WallTime(margin->get<std::int64_t>())) +
            " or more to spare";
  return text;
}

std::string lists_text(const Json& totals) {
  std::string text = std::to_string(number_in(totals, "lists"));
  const char* gap = ": ";
  for (const auto& [state, count] : object_in(totals, "states").items()) {
    text += gap + count.dump() + " " + escape(state);
    gap = ", ";
  }
  return text;
}

std::string running_text(const Json& totals, const Json& slots) {
  std::string text = std::to_string(number_in(totals, "running"));
  if (const auto limit = number_in(slots, "limit"); limit > 0)
    text += ", " + std::to_string(number_in(slots, "used")) + " of " + std::to_string(limit) +
            " processes";
  return text;
}

void print_status(const Json& host, bool wide) {
  const Json totals = host.value("totals", Json::object());
  const Json redis = host.value("redis", Json::object());
  Facts facts;
  add_problems(facts, host);
  facts.add("host", text_in(host, "host") + ", pid " + std::to_string(number_in(host, "pid")) +
                        ", w8yd " + text_in(host, "version"));
  facts.add("state", {text_in(host, "state") + ", up " + since(ms_in(host, "started_ms")),
                      shaded(text_in(host, "state")).colour});
  facts.add("config", text_in(host, "config_hash") + ", generation " +
                          std::to_string(number_in(host, "generation")));
  if (const std::string reload = text_in(host, "last_reload"); !reload.empty())
    facts.add("reload", time_text(ms_in(host, "last_reload_ms")) + ": " + reload);
  const bool has_redis = host.value("has_redis", true);
  facts.add("redis", has_redis ? redis_text(redis) : without_redis);
  for (const Json& server : host.value("gearman", Json::array()))
    facts.add("gearman", gearman_text(server));
  facts.add("running", running_text(totals, host.value("slots", Json::object())));
  if (has_redis) facts.add("locks", locks_text(redis, totals));
  facts.add("lists", lists_text(totals));
  facts.print(wide);
}

class Status final : public Command {
 public:
  void declare(Words&) override {}
  int run(const Options& options, Context& context) override {
    // Each of ten thousand lists is only of use to a program.
    const Json host =
        context.host().ask(options.json ? "/api/v1/status" : "/api/v1/status?lists=count");
    if (options.json) {
      print_json(host);
    } else {
      print_status(host, options.wide);
    }
    return redis_usable(host) ? done : not_reachable;
  }
};

}  // namespace

CommandPtr make_status() {
  return std::make_unique<Status>();
}

}  // namespace w8y::app::ctl
