// Finished runs, newest first; and one run closely.
#include <algorithm>
#include <iostream>
#include <optional>

#include <w8y/escape.hpp>
#include <w8y/units.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/history.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

constexpr std::size_t usual_limit = 50;
/// Hosts' clocks may differ from Redis's by so much before a run is not found.
constexpr WallTime clock_slack = std::chrono::hours(24);
constexpr std::size_t whole = std::size_t{1} << 24;

std::string took_text(const FinishedRun& run) {
  return format_duration(std::max(WallTime(0), run.time("ended") - run.time("started")));
}

void print_runs(const std::vector<FinishedRun>& runs) {
  if (runs.empty()) {
    std::cout << "no finished runs\n";
    return;
  }
  Table table({"ENDED", "RUN", "LIST", "ITEM", "OUTCOME", "TOOK", "HOST", "REASON"});
  for (const auto& run : runs)
    table.add({time_text(run.time("ended")), escape(run.field("run")), escape_text(run.list),
               escape_text(run.field("item")), shaded(run.field("outcome")), took_text(run),
               escape_text(run.field("host")), escape(run.field("reason"))});
  table.print();
}

/// Its lines, each fit for a terminal.
void print_stderr(const std::string& text) {
  if (text.empty()) return;
  std::cout << "standard error:\n";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::cout << "  " << escape(std::string_view(text).substr(at, end - at), whole) << '\n';
    at = end + 1;
  }
}

void print_run(const FinishedRun& run) {
  Table table;
  table.add({"run", escape(run.field("run"))});
  table.add({"list", escape_text(run.list)});
  table.add({"item", escape_text(run.field("item"))});
  table.add({"host", escape_text(run.field("host"))});
  std::string outcome = coloured(shaded(run.field("outcome")));
  if (!run.field("reason").empty()) outcome += ": " + escape(run.field("reason"));
  table.add({"outcome", outcome});
  table.add({"started", time_text(run.time("started"))});
  table.add({"ended", time_text(run.time("ended")) + ", after " + took_text(run)});
  for (const char* name : {"exit", "attempt", "fence"})
    if (!run.field(name).empty()) table.add({name, escape(run.field(name))});
  if (!run.field("bad_lines").empty()) table.add({"bad lines", escape(run.field("bad_lines"))});
  if (!run.field("result").empty()) table.add({"result", escape(run.field("result"), whole)});
  table.print();
  print_stderr(run.field("stderr"));
}

/// A run of this host that is going on; the list's prefix with it.
std::optional<Json> find_active(const Options& options, Site& site) {
  const auto host = site.try_ask("/api/v1/status");
  if (!host) return std::nullopt;
  for (const auto& list : array_in(*host, "lists")) {
    const auto prefix = ops::get_bytes(list, "prefix");
    if (!prefix || (options.prefix && options.prefix != prefix)) continue;
    for (const auto& run : array_in(list, "runs")) {
      if (text_in(run, "run") != options.run) continue;
      Json json = Json::object();
      ops::put_bytes(json, "list", *prefix);
      json.update(run);
      json["host"] = text_in(*host, "host");
      return json;
    }
  }
  return std::nullopt;
}

void print_active(const Json& run) {
  Table table;
  table.add({"run", text_in(run, "run")});
  table.add({"list", shown_in(run, "list")});
  table.add({"item", shown_in(run, "item")});
  table.add({"host", text_in(run, "host")});
  table.add({"state", coloured(shaded(text_in(run, "state")))});
  const WallTime started(number_in(run, "started_ms"));
  table.add({"started", time_text(started) + ", " + since(started) + " ago"});
  table.add({"pid", std::to_string(number_in(run, "pid"))});
  table.add({"attempt", std::to_string(number_in(run, "attempt"))});
  table.add({"fence", std::to_string(number_in(run, "fence"))});
  if (const std::string progress = progress_in(run.value("progress", Json())); !progress.empty())
    table.add({"progress", progress});
  if (run.value("lease_lost", false)) table.add({"lock", Cell("lost", Colour::bad)});
  table.print();
}

bool find_finished(const Options& options, Site& site, FinishedRun& run) {
  History history(site.redis(), site.chosen_lists());
  const auto claimed = time_of_run(options.run);
  while (history.next(run)) {
    if (run.field("run") == options.run) return true;
    // It can't have ended before it was claimed.
    if (claimed && run.time("ended") + clock_slack < *claimed) return false;
  }
  return false;
}

}  // namespace

int runs(const Options& options, Site& site) {
  History history(site.redis(), site.chosen_lists());
  const std::size_t limit = options.limit > 0 ? options.limit : usual_limit;
  std::vector<FinishedRun> found;
  FinishedRun run;
  while (found.size() < limit && history.next(run)) {
    if (!options.items.empty() && run.field("item") != options.items.front()) continue;
    if (options.failed && run.field("outcome") == "succeeded") continue;
    if (!options.json) run.fields.erase("stderr");
    found.push_back(std::move(run));
  }
  if (!options.json) {
    print_runs(found);
    return done;
  }
  Json json = {{"runs", Json::array()}};
  for (const auto& one : found) json["runs"].push_back(to_json(one));
  print_json(json);
  return done;
}

int show(const Options& options, Site& site) {
  if (const auto active = find_active(options, site)) {
    if (options.json) {
      print_json(*active);
    } else {
      print_active(*active);
    }
    return done;
  }
  FinishedRun run;
  if (!find_finished(options, site, run))
    throw Failure(refused, "no such run: it is not going on here, and not in the history");
  if (options.json) {
    print_json(to_json(run));
  } else {
    print_run(run);
  }
  return done;
}

}  // namespace w8y::app::ctl
