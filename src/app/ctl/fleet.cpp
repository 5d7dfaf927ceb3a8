// All hosts: a line for each, then what each does with its lists, and which runs it has.
#include <algorithm>
#include <iostream>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/fleet_access.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

/// Of a hash, enough to tell two apart.
constexpr std::size_t hash_shown = 8;

std::string ago_in(const Json& host, const char* name, WallTime now) {
  const WallTime time = ms_in(host, name);
  return time.count() == 0 ? std::string()
                           : rough_duration(std::max(WallTime(0), now - time)) + " ago";
}

std::string fleet_ms_in(const Json& host, const char* name) {
  const auto found = host.find(name);
  const auto time = found == host.end() ? std::nullopt : read_ms(*found, signed_ms_range);
  if (!time) return {};
  return time->count() < 0 ? "-" + rough_duration(-*time) : rough_duration(*time);
}

Cell config_cell(const Json& host, WallTime now) {
  const std::string hash = text_in(host, "config_hash");
  if (hash.empty()) return "";
  const std::string text = "#" + std::to_string(number_in(host, "generation")) + " " +
                           hash.substr(0, hash_shown) + ", " + ago_in(host, "applied_ms", now);
  if (host.value("behind", false)) return {text + ", behind", Colour::bad};
  return text;
}

std::string fleet_slots_text(const Json& host) {
  const Json slots = host.value("slots", Json::object());
  const std::string used = std::to_string(number_in(slots, "used"));
  const std::int64_t limit = number_in(slots, "limit");
  return limit > 0 ? used + "/" + std::to_string(limit) : used;
}

/// What is to be known of a host besides the columns.
std::string fleet_note_text(const Json& host) {
  std::string note = text_in(host, "trouble");
  const auto add = [&note](const std::string& more) { note += (note.empty() ? "" : "; ") + more; };
  if (host.value("shares_name", false))
    add("another host has this name: " + shown_in(host, "host_id"));
  if (const std::string lists = text_in(host, "lists_trouble"); !lists.empty()) add(lists);
  return note;
}

void print_fleet_hosts(const Json& fleet, bool wide) {
  const WallTime now = ms_in(fleet, "now_ms");
  Table table(
      {"HOST", "STATE", "CONFIG", "VERSION", "BEAT", "PLACES", "MARGIN", {"NOTE", may_be_cut}});
  for (const auto& host : array_in(fleet, "hosts")) {
    Cell state = shaded(text_in(host, "state"));
    const bool silent = !host["silent_since_ms"].is_null();
    if (silent) state = Cell("silent since " + ago_in(host, "silent_since_ms", now), Colour::bad);
    table.add({shown_in(host, "host"), state, config_cell(host, now), text_in(host, "version"),
               ago_in(host, "last_beat_ms", now), fleet_slots_text(host),
               fleet_ms_in(host, "lease_margin_ms"), fleet_note_text(host)});
  }
  table.print(wide);
  if (fleet.value("cut", false)) std::cout << "there are more hosts than are shown\n";
}

void print_fleet_lists(const Json& fleet, bool wide) {
  Table table(
      {"HOST", "LIST", "STATE", "RUNNING", {"CAPABILITIES", may_be_cut}, {"WHY", may_be_cut}});
  for (const auto& host : array_in(fleet, "hosts"))
    for (const auto& list : array_in(host, "lists")) {
      std::string caps;
      for (const auto& cap : array_in(list, "caps"))
        if (cap.is_string()) caps += (caps.empty() ? "" : " ") + escape(cap.get<std::string>());
      table.add({shown_in(host, "host"), shown_in(list, "list"), shaded(text_in(list, "state")),
                 running_of_limits(list), caps, said_in(list, "why")});
    }
  if (table.empty()) return;
  std::cout << '\n';
  table.print(wide);
}

void print_fleet_runs(const Json& answer, bool wide) {
  Table table({"HOST", "LIST", {"ITEM", may_be_cut}, "RUN", "FOR", "PROGRESS"});
  for (const auto& host : array_in(answer, "hosts"))
    for (const auto& run : array_in(host, "runs"))
      table.add({shown_in(host, "host"), shown_in(run, "list"), item_in(run), text_in(run, "run"),
                 rough_duration(ms_in(run, "age_ms")), progress_in(run.value("progress", Json()))});
  std::cout << '\n';
  if (table.empty()) {
    std::cout << "nothing runs\n";
  } else {
    table.print(wide);
  }
  for (const auto& host : array_in(answer, "hosts"))
    if (const auto more = number_in(host, "more_runs"); more > 0)
      std::cout << shown_in(host, "host") << ": and " << more << " more runs\n";
  for (const auto& host : array_in(answer, "missing"))
    std::cout << shown_in(host, "host") << ": did not say what it runs\n";
}

class Fleet final : public Command {
 public:
  void declare(Words& words) override {
    words.flag("--runs", "Ask each host what it runs, and since when", runs_);
    words.flag("--no-lists", "Only a line for each host", no_lists_);
  }

  int run(const Options& options, Context& context) override {
    FleetAccess access(options, context);
    Json fleet = access.look(!no_lists_);
    Json runs;
    if (runs_) runs = access.give({});
    if (options.json) {
      if (runs_) fleet["runs"] = runs;
      print_json(fleet);
      return done;
    }
    if (array_in(fleet, "hosts").empty()) {
      std::cout << "no host is in the fleet " << shown_in(fleet, "fleet") << '\n';
      return done;
    }
    print_fleet_hosts(fleet, options.wide);
    if (!no_lists_) print_fleet_lists(fleet, options.wide);
    if (runs_) print_fleet_runs(runs, options.wide);
    return done;
  }

 private:
  bool runs_ = false;
  bool no_lists_ = false;
};

}  // namespace

CommandPtr make_fleet() {
  return std::make_unique<Fleet>();
}

}  // namespace w8y::app::ctl
