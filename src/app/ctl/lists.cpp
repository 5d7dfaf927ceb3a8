// All lists of this host, or one in detail.
#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "app/ctl/commands.hpp"
#include "app/ctl/context.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"
#include "app/ctl/values.hpp"
#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "core/units.hpp"
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

/// Runs that did not succeed, and were not ended by us.
std::int64_t failures(const Json& counters) {
  return number_in(counters, "failed") + number_in(counters, "crashed") +
         number_in(counters, "timed_out") + number_in(counters, "lost");
}

/// "?": Redis did not say.
std::string quarantined_text(const Json& list) {
  const auto found = list.find("quarantined");
  return found != list.end() && found->is_number() ? found->dump() : "?";
}

/// How long a lap takes, or how long an item has waited; red where that is too long.
Cell visit_cell(const Json& list, const char* name) {
  const auto time = maybe_ms_in(list, name);
  if (!time) return {""};
  const WallTime within = ms_in(list, "visit_within_ms");
  return {rough_duration(*time), within.count() > 0 && *time > within ? Colour::bad : Colour::none};
}

/// "needs 12 places, has 8"; empty: it is not known, or has enough.
std::string needs_text(const Json& list) {
  const auto needed = number_in(list, "places_needed");
  const auto has = number_in(list, "fleet_places");
  if (needed == 0 || !list.contains("fleet_places")) return "";
  return "needs " + std::to_string(needed) + (needed == 1 ? " place, has " : " places, has ") +
         std::to_string(has);
}

/// Laps are told where they are watched, or with --wide.
void print_lists(const std::vector<const Json*>& lists, bool wide) {
  const bool laps = wide || std::any_of(lists.begin(), lists.end(), [](const Json* list) {
                      return number_in(*list, "visit_within_ms") > 0;
                    });
  std::vector<Heading> columns = {{"LIST", may_be_cut}, "STATE", "RUNNING", "DONE", "FAILED",
                                  "QUARANTINED"};
  if (laps) columns.insert(columns.end(), {"LAP", "OLDEST", "NEEDS"});
  columns.push_back({"CAN", may_be_cut});
  columns.push_back({"WHY", may_be_cut});
  Table table(columns);
  for (const Json* one : lists) {
    const Json& list = *one;
    const Json& counters = object_in(list, "counters");
    std::vector<Cell> row = {shown_in(list, "list"),
                             shaded(text_in(list, "state")),
                             running_of_limits(list),
                             std::to_string(number_in(counters, "succeeded")),
                             std::to_string(failures(counters)),
                             quarantined_text(list)};
    if (laps) {
      row.push_back(visit_cell(list, "lap_ms"));
      row.push_back(visit_cell(list, "oldest_visit_ms"));
      row.push_back(needs_text(list));
    }
    row.push_back(caps_text(list));
    row.push_back(said_in(list, "why"));
    table.add(row);
  }
  table.print(wide);
}

/// What is known of its laps.
void add_visits(Facts& facts, const Json& list) {
  if (const WallTime within = ms_in(list, "visit_within_ms"); within.count() > 0)
    facts.add("visit within", rough_duration(within));
  if (list.contains("lap_ms")) facts.add("lap", visit_cell(list, "lap_ms"));
  if (list.contains("oldest_visit_ms")) facts.add("oldest", visit_cell(list, "oldest_visit_ms"));
  if (const std::string needs = needs_text(list); !needs.empty()) facts.add("places", needs);
}

void print_runs(const Json& runs, bool wide) {
  if (runs.empty()) return;
  std::cout << '\n';
  Table table({"RUN", {"ITEM", may_be_cut}, "STATE", "PID", "FOR", "ATTEMPT", "PROGRESS", "LOCK"});
  for (const auto& run : runs)
    table.add({text_in(run, "run"), item_in(run), shaded(text_in(run, "state")),
               std::to_string(number_in(run, "pid")), since(ms_in(run, "started_ms")),
               std::to_string(number_in(run, "attempt")),
               progress_in(run.value("progress", Json())),
               run.value("lease_lost", false) ? Cell("lost", Colour::bad) : Cell("")});
  table.print(wide);
}

std::string counted_text(const Json& counters) {
  std::string counted;
  for (const auto& [name, count] : counters.items()) {
    if (!count.is_number() || count == 0) continue;
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    counted += (counted.empty() ? "" : ", ") + count.dump() + " " + words;
  }
  return counted.empty() ? "nothing" : counted;
}

void print_list(const Json& list, bool wide) {
  Facts facts;
  const std::string state = text_in(list, "state");
  const std::string why = said_in(list, "why");
  facts.add("list", shown_in(list, "list"));
  facts.add("state", {state + (why.empty() ? "" : ": " + why), shaded(state).colour});
  if (number_in(list, "quarantined") > 0)
    facts.add("quarantined", {std::to_string(number_in(list, "quarantined")) +
                                  (number_in(list, "quarantined") == 1 ? " item" : " items"),
                              Colour::bad});
  if (wide || number_in(list, "visit_within_ms") > 0) add_visits(facts, list);
  if (const std::string error = text_in(list, "last_error"); !error.empty())
    facts.add("last error", time_text(ms_in(list, "last_error_ms")) + ": " + error);
  std::string program = text_in(list, "program");
  if (const std::string version = text_in(list, "executor_version"); !version.empty())
    program += ", version " + version;
  facts.add("program", program);
  if (const std::string caps = caps_text(list); !caps.empty()) facts.add("can", caps);
  std::string running = std::to_string(number_in(list, "running")) + " of " +
                        std::to_string(number_in(list, "concurrency"));
  if (const auto fleet = number_in(list, "fleet_concurrency"); fleet > 0)
    running += ", of " + std::to_string(fleet) + " in the fleet";
  facts.add("running", running);
  facts.add("since start", counted_text(list.value("counters", Json::object())));
  facts.print(wide);
  print_runs(array_in(list, "runs"), wide);
}

/// Where a list stands among others: what is wrong comes first.
int rank_of(const Json& list) {
  const std::string state = text_in(list, "state");
  if (state == "unavailable" || state == "starved") return 0;
  if (number_in(list, "quarantined") > 0) return 1;
  if (state == "refused" || state == "paused") return 2;
  return 3;
}

class Lists final : public Command {
 public:
  void declare(Words& words) override {
    declare_prefix_or_none(words, "A list, or a pattern", prefix_);
    words.option("--state", "STATE", "a state, such as refused or paused",
                 "Only lists in this state", [this](Word&& word) {
                   state_ = one_of("--state", word.text,
                                   {"running", "idle", "full", "unavailable", "starved", "paused",
                                    "quiet", "probing", "refused", "disabled", "draining"});
                 });
  }

  int run(const Options& options, Context& context) override {
    const bool one = prefix_ && state_.empty();
    if (one) {
      if (const auto list = exactly(context, *prefix_)) return show_one(options, *list);
    }
    Json answer = context.host().ask("/api/v1/lists");
    Json& lists = answer["lists"];
    Json chosen = Json::array();
    for (auto& list : lists)
      if (is_wanted(list)) chosen.push_back(std::move(list));
    if (prefix_ && chosen.empty() && state_.empty())
      throw Failure(refused, "this host has no list " + escape_text(*prefix_));
    lists = std::move(chosen);
    if (options.json) {
      print_json(answer);
      return done;
    }
    print(answer, options.wide);
    return done;
  }

 private:
  /// nullopt: a pattern, and no list of that name.
  static std::optional<Json> exactly(Context& context, const std::string& prefix) {
    const std::string path = ops::make_path({"api", "v1", "lists", prefix});
    if (!core::is_pattern(prefix)) return context.host().ask(path);
    return context.host().try_ask(path);
  }
  static int show_one(const Options& options, const Json& list) {
    if (options.json) {
      print_json(list);
    } else {
      print_list(list, options.wide);
    }
    return done;
  }
  [[nodiscard]] bool is_wanted(const Json& list) const {
    if (!state_.empty() && text_in(list, "state") != state_) return false;
    const auto prefix = ops::get_bytes(list, "list");
    return !prefix_ || (prefix && (*prefix_ == *prefix || core::fits(*prefix_, *prefix)));
  }
  void print(const Json& answer, bool wide) const {
    Facts facts;
    if (!prefix_ && state_.empty()) add_problems(facts, answer);
    facts.print(wide);
    if (!facts.empty()) std::cout << '\n';
    if (!state_.empty() && array_in(answer, "lists").empty()) {
      std::cout << "no list is " << state_ << '\n';
      return;
    }
    std::vector<const Json*> sorted;
    for (const auto& list : array_in(answer, "lists")) sorted.push_back(&list);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Json* a, const Json* b) { return rank_of(*a) < rank_of(*b); });
    print_lists(sorted, wide);
  }

  std::optional<std::string> prefix_;
  std::string state_;
};

}  // namespace

CommandPtr make_lists() {
  return std::make_unique<Lists>();
}

}  // namespace w8y::app::ctl
