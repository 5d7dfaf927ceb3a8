// This host at a glance, and orders to it.
#include <iostream>
#include <map>

#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string redis_text(const Json& redis) {
  const bool connected = redis.value("connected", false);
  const std::string trouble = text_in(redis, "trouble");
  std::string text = text_in(redis, "url") + (connected ? ", connected" : ", not connected");
  if (trouble.empty()) return text;
  return text + (connected ? ", but of no use: " : ": ") + trouble;
}

/// How much time was left when locks were renewed: what shrinks before a lock is lost.
std::string leases_text(const Json& redis) {
  std::string text = std::to_string(number_in(redis, "leases"));
  const auto margin = [&](const char* name, const char* words) {
    const auto found = redis.find(name);
    if (found == redis.end() || !found->is_number()) return;
    text += words + std::to_string(found->get<std::int64_t>()) + " ms";
  };
  margin("lease_margin_ms", ", renewed with at least ");
  margin("least_lease_margin_ms", " to spare; since the start ");
  return text;
}

std::string lists_text(const Json& lists) {
  std::map<std::string, std::size_t> states;
  for (const auto& list : lists) ++states[text_in(list, "state")];
  std::string text = std::to_string(lists.size());
  for (const auto& [state, count] : states)
    text +=
        (text.find(':') == std::string::npos ? ": " : ", ") + std::to_string(count) + " " + state;
  return text;
}

std::size_t running_in(const Json& lists) {
  std::size_t running = 0;
  for (const auto& list : lists) running += static_cast<std::size_t>(number_in(list, "running"));
  return running;
}

/// The lists that an operator should know of.
void print_trouble(const Json& lists) {
  Table table({"LIST", "STATE", "WHY"});
  for (const auto& list : lists) {
    const std::string state = text_in(list, "state");
    if (state == "running" || state == "idle" || state == "full" || state == "disabled") continue;
    table.add({shown_in(list, "prefix"), shaded(state), text_in(list, "why")});
  }
  if (table.empty()) return;
  std::cout << '\n';
  table.print();
}

void print_status(const Json& host) {
  const Json& lists = array_in(host, "lists");
  const Json redis = host.value("redis", Json::object());
  const Json slots = host.value("slots", Json::object());
  Table table;
  table.add({"host", text_in(host, "host") + ", pid " + std::to_string(number_in(host, "pid")) +
                         ", w8yd " + text_in(host, "version")});
  table.add({"state", coloured(shaded(text_in(host, "state"))) + ", up " +
                          since(WallTime(number_in(host, "started_ms")))});
  table.add({"config", text_in(host, "config_hash") + ", generation " +
                           std::to_string(number_in(host, "generation"))});
  if (const std::string reload = text_in(host, "last_reload"); !reload.empty())
    table.add({"reload", time_text(WallTime(number_in(host, "last_reload_ms"))) + ": " + reload});
  table.add({"redis", redis_text(redis)});
  std::string running = std::to_string(running_in(lists));
  if (const auto limit = number_in(slots, "limit"); limit > 0)
    running += ", " + std::to_string(number_in(slots, "used")) + " of " + std::to_string(limit) +
               " processes";
  table.add({"running", running});
  table.add({"leases", leases_text(redis)});
  table.add({"lists", lists_text(lists)});
  table.print();
  print_trouble(lists);
}

int order(const Options& options, Site& site, const char* path, const Json& body = Json::object()) {
  const Json answer = site.order(path, body);
  if (options.json) {
    print_json(answer);
    return done;
  }
  std::cout << text_in(answer, "text") << '\n';
  for (const auto& line : array_in(answer, "lines"))
    if (line.is_string()) std::cout << "  " << escape(line.get<std::string>()) << '\n';
  return done;
}

}  // namespace

int status(const Options& options, Site& site) {
  const Json host = site.ask("/api/v1/status");
  if (options.json) {
    print_json(host);
  } else {
    print_status(host);
  }
  return done;
}

int quiet(const Options& options, Site& site) {
  return order(options, site, "/api/v1/quiet");
}

int resume(const Options& options, Site& site) {
  return options.prefix ? end_pause(options, site) : order(options, site, "/api/v1/resume");
}

int reload(const Options& options, Site& site) {
  return order(options, site, "/api/v1/reload");
}

int drain(const Options& options, Site& site) {
  return order(options, site, "/api/v1/drain");
}

int cancel(const Options& options, Site& site) {
  Json body = Json::object();
  ops::put_bytes(body, "run", options.run);
  return order(options, site, "/api/v1/cancel", body);
}

}  // namespace w8y::app::ctl
