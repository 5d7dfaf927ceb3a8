// Every list of this host, or one of them closely.
#include <iostream>

#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "ops/http_target.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string caps_text(const Json& list) {
  std::string text;
  for (const auto& cap : array_in(list, "caps"))
    if (cap.is_string()) text += (text.empty() ? "" : " ") + escape_text(cap.get<std::string>());
  return text;
}

/// "2/4", or "2/4/10" with a limit of the whole fleet.
std::string running_text(const Json& list) {
  std::string text = std::to_string(number_in(list, "running")) + "/" +
                     std::to_string(number_in(list, "concurrency"));
  if (const auto fleet = number_in(list, "fleet_concurrency"); fleet > 0)
    text += "/" + std::to_string(fleet);
  return text;
}

/// Runs that did not succeed, and were not ended by us.
std::int64_t failures(const Json& counters) {
  return number_in(counters, "failed") + number_in(counters, "crashed") +
         number_in(counters, "timed_out") + number_in(counters, "lost");
}

void print_lists(const Json& lists) {
  Table table({"LIST", "STATE", "RUNNING", "DONE", "FAILED", "CAN", "WHY"});
  for (const auto& list : lists) {
    const Json counters = list.value("counters", Json::object());
    table.add({shown_in(list, "prefix"), shaded(text_in(list, "state")), running_text(list),
               std::to_string(number_in(counters, "succeeded")), std::to_string(failures(counters)),
               caps_text(list), text_in(list, "why")});
  }
  table.print();
}

void print_runs(const Json& runs) {
  if (runs.empty()) return;
  std::cout << '\n';
  Table table({"RUN", "ITEM", "STATE", "PID", "FOR", "ATTEMPT", "PROGRESS", "LOCK"});
  for (const auto& run : runs)
    table.add({text_in(run, "run"), shown_in(run, "item"), shaded(text_in(run, "state")),
               std::to_string(number_in(run, "pid")), since(WallTime(number_in(run, "started_ms"))),
               std::to_string(number_in(run, "attempt")),
               progress_in(run.value("progress", Json())),
               run.value("lease_lost", false) ? Cell("lost", Colour::bad) : Cell("")});
  table.print();
}

void print_list(const Json& list) {
  Table table;
  std::string state = coloured(shaded(text_in(list, "state")));
  if (const std::string why = text_in(list, "why"); !why.empty()) state += ": " + why;
  table.add({"list", shown_in(list, "prefix")});
  table.add({"state", state});
  std::string program = text_in(list, "program");
  if (const std::string version = text_in(list, "executor_version"); !version.empty())
    program += ", version " + version;
  table.add({"program", program});
  if (const std::string caps = caps_text(list); !caps.empty()) table.add({"can", caps});
  std::string running = std::to_string(number_in(list, "running")) + " of " +
                        std::to_string(number_in(list, "concurrency"));
  if (const auto fleet = number_in(list, "fleet_concurrency"); fleet > 0)
    running += ", of " + std::to_string(fleet) + " in the fleet";
  table.add({"running", running});
  std::string counted;
  const Json counters = list.value("counters", Json::object());
  for (const auto& [name, count] : counters.items()) {
    if (!count.is_number() || count == 0) continue;
    std::string words = name;
    for (char& c : words)
      if (c == '_') c = ' ';
    counted += (counted.empty() ? "" : ", ") + count.dump() + " " + words;
  }
  table.add({"since start", counted.empty() ? "nothing" : counted});
  if (const std::string error = text_in(list, "last_error"); !error.empty())
    table.add({"last error", time_text(WallTime(number_in(list, "last_error_ms"))) + ": " + error});
  table.print();
  print_runs(array_in(list, "runs"));
}

}  // namespace

int lists(const Options& options, Site& site) {
  const Json answer = options.prefix
                          ? site.ask(ops::make_path({"api", "v1", "lists", *options.prefix}))
                          : site.ask("/api/v1/lists");
  if (options.json) {
    print_json(answer);
  } else if (options.prefix) {
    print_list(answer);
  } else {
    print_lists(array_in(answer, "lists"));
  }
  return done;
}

}  // namespace w8y::app::ctl
