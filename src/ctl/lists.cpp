// Lists all lists of this host, or shows one in detail.
#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "api/endpoints.hpp"
#include "core/escape.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "view/list_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

/// "?": Redis did not return the number.
std::string quarantined_text(const ListStatus& list) {
  return list.quarantined ? std::to_string(*list.quarantined) : "?";
}

/// Formats a cycle time or longest wait; red if it exceeds the limit.
Cell visit_cell(const ListStatus& list, std::optional<WallTime> ListStats::*member) {
  if (!list.stats || !((*list.stats).*member)) return {""};
  const WallTime time = *((*list.stats).*member);
  const bool late = list.overdue_after > Duration{0} && time > list.overdue_after;
  return {rough_duration(time), late ? Colour::bad : Colour::none};
}

/// Returns "needs 12 slots, has 8"; empty: not known, or enough.
std::string needs_text(const ListStatus& list) {
  if (!list.stats || !list.stats->slots || list.stats->slots_needed.value_or(0) == 0) return "";
  const std::uint64_t needed = *list.stats->slots_needed;
  return "needs " + std::to_string(needed) + (needed == 1 ? " slot, has " : " slots, has ") +
         std::to_string(*list.stats->slots);
}

/// Cycles are printed if a list has a limit, or with --wide.
void print_lists(const std::vector<const ListStatus*>& lists, bool wide) {
  const bool cycles = wide || std::any_of(lists.begin(), lists.end(), [](const ListStatus* list) {
                        return list->overdue_after > Duration{0};
                      });
  std::vector<Heading> columns = {{"LIST", may_be_cut}, "STATE",  "RUNNING",
                                  "SUCCEEDED",          "FAILED", "QUARANTINED"};
  if (cycles) columns.insert(columns.end(), {"CYCLE", "LONGEST WAIT", "SLOTS NEEDED"});
  columns.push_back({"CAPABILITIES", may_be_cut});
  columns.push_back({"REASON", may_be_cut});
  Table table(columns);
  for (const ListStatus* one : lists) {
    const ListStatus& list = *one;
    std::vector<Cell> row = {escape_text(list.prefix),
                             shaded(state_name(list.state)),
                             running_of_limits(list),
                             std::to_string(list.counters.succeeded),
                             std::to_string(view::failures(list.counters)),
                             quarantined_text(list)};
    if (cycles) {
      row.push_back(visit_cell(list, &ListStats::cycle));
      row.push_back(visit_cell(list, &ListStats::longest_wait));
      row.push_back(needs_text(list));
    }
    row.push_back(capabilities_text(list.caps));
    row.push_back(outcome_text(list.why));
    table.add(row);
  }
  table.print(wide);
}

/// Adds the statistics of cycles.
void add_visits(KeyValueTable& facts, const ListStatus& list) {
  if (list.overdue_after > Duration{0})
    facts.add("overdue after", rough_duration(list.overdue_after));
  if (list.stats && list.stats->cycle) facts.add("cycle", visit_cell(list, &ListStats::cycle));
  if (list.stats && list.stats->longest_wait)
    facts.add("longest wait", visit_cell(list, &ListStats::longest_wait));
  if (const std::string needs = needs_text(list); !needs.empty()) facts.add("slots", needs);
}

void print_runs(const std::vector<RunStatus>& runs, bool wide) {
  if (runs.empty()) return;
  std::cout << '\n';
  Table table({"RUN", {"ITEM", may_be_cut}, "STATE", "PID", "AGE", "ATTEMPT", "PROGRESS", "LEASE"});
  for (const RunStatus& run : runs)
    table.add({escape(run.run), item_text(run.item), shaded(state_name(run.state)),
               std::to_string(run.pid), since(run.started), std::to_string(run.attempt),
               progress_text(run.progress), run.lease_lost ? Cell("lost", Colour::bad) : Cell("")});
  table.print(wide);
}

std::string counted_text(const RunCounters& counters) {
  std::string counted;
  for (const auto& [name, count] : view::counts_of(counters)) {
    if (count == 0) continue;
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    counted += (counted.empty() ? "" : ", ") + std::to_string(count) + " " + words;
  }
  return counted.empty() ? "nothing" : counted;
}

void print_list(const ListStatus& list, bool wide) {
  KeyValueTable facts;
  const std::string state = state_name(list.state);
  const std::string why = outcome_text(list.why);
  facts.add("list", escape_text(list.prefix));
  facts.add("state", {state + (why.empty() ? "" : ": " + why), shaded(state).colour});
  if (const auto quarantined = list.quarantined.value_or(0); quarantined > 0)
    facts.add("quarantined",
              {std::to_string(quarantined) + (quarantined == 1 ? " item" : " items"), Colour::bad});
  if (wide || list.overdue_after > Duration{0}) add_visits(facts, list);
  if (!list.last_error.empty())
    facts.add("last error", time_text(list.last_error_at) + ": " + escape(list.last_error));
  std::string program = escape(list.program);
  if (!list.executor_version.empty()) program += ", version " + escape(list.executor_version);
  facts.add("program", program);
  if (const std::string caps = capabilities_text(list.caps); !caps.empty())
    facts.add("capabilities", caps);
  std::string running = std::to_string(list.running) + " of " + std::to_string(list.concurrency);
  if (list.fleet_concurrency > 0)
    running += ", of " + std::to_string(list.fleet_concurrency) + " in the fleet";
  facts.add("running", running);
  facts.add("since start", counted_text(list.counters));
  facts.print(wide);
  print_runs(list.runs, wide);
}

/// Returns the rank of a list: problems come first.
int rank_of(const ListStatus& list) {
  if (list.state == ListState::unavailable || list.state == ListState::starved ||
      list.state == ListState::breaker_open)
    return 0;
  if (list.quarantined.value_or(0) > 0) return 1;
  if (list.state == ListState::ineligible || list.state == ListState::paused) return 2;
  return 3;
}

class Lists final : public Command {
 public:
  void declare(Arguments& words) override {
    declare_prefix_or_none(words, "A list, or a pattern", prefix_);
    words.option("--state", "STATE", "a state, such as ineligible or paused",
                 "Only lists in this state", [this](Argument&& word) {
                   state_ =
                       one_of("--state", word.text,
                              {"running", "idle", "full", "unavailable", "starved", "breaker_open",
                               "paused", "quiet", "probing", "ineligible", "disabled", "draining"});
                 });
  }

  int run(const Options& options, Context& context) override {
    const bool one = prefix_ && state_.empty();
    if (one) {
      if (const auto list = exactly(context, *prefix_)) return show_one(options, *list);
    }
    const JsonFields answer = context.host().request(api::endpoints::lists.target());
    std::vector<ListStatus> lists;
    core::JsonArray chosen;
    for (const JsonFields& each : answer.objects("lists")) {
      auto list = view::read_list(each, view::api);
      if (!list || !is_wanted(*list)) continue;
      if (options.json) chosen.add(view::to_json(*list, view::api));
      lists.push_back(std::move(*list));
    }
    if (prefix_ && lists.empty() && state_.empty())
      throw Failure(refused, "this host has no list " + escape_text(*prefix_));
    if (options.json) {
      print_json(answer.whole_with("lists", chosen.finish()));
      return done;
    }
    print(answer, lists, options.wide);
    return done;
  }

 private:
  /// Returns the list of that name; nullopt: the argument is a pattern and there is no such list.
  static std::optional<JsonFields> exactly(Context& context, const std::string& prefix) {
    const http::Target path = api::endpoints::list.target({prefix});
    if (core::is_pattern(prefix)) return context.host().try_request(path);
    try {
      return context.host().request(path);
    } catch (const Failure& failure) {
      const verbs::KnownLists* known = failure.exit() == refused ? context.lists() : nullptr;
      if (known == nullptr || known->contains(prefix)) throw;
      throw Failure(refused,
                    "this host has no list " + escape_text(prefix) + near_hint(*known, prefix));
    }
  }
  static std::string near_hint(const verbs::KnownLists& known, const std::string& prefix) {
    std::vector<std::string> names;
    known.each([&](const std::string& name, SourceKind) { names.push_back(name); });
    return core::near_hint(prefix, {names.begin(), names.end()});
  }
  static int show_one(const Options& options, const JsonFields& list) {
    if (options.json) {
      print_json(list);
    } else {
      print_list(view::read_list(list, view::detail).value_or(ListStatus{}), options.wide);
    }
    return done;
  }
  [[nodiscard]] bool is_wanted(const ListStatus& list) const {
    if (!state_.empty() && state_name(list.state) != state_) return false;
    return !prefix_ || *prefix_ == list.prefix || core::fits(*prefix_, list.prefix);
  }
  void print(const JsonFields& answer, const std::vector<ListStatus>& lists, bool wide) const {
    KeyValueTable facts;
    if (!prefix_ && state_.empty()) add_problems(facts, read_problems(answer));
    facts.print(wide);
    if (!facts.empty()) std::cout << '\n';
    if (!state_.empty() && lists.empty()) {
      std::cout << "no list is " << state_ << '\n';
      return;
    }
    std::vector<const ListStatus*> sorted;
    for (const ListStatus& list : lists) sorted.push_back(&list);
    std::stable_sort(sorted.begin(), sorted.end(), [](const ListStatus* a, const ListStatus* b) {
      return rank_of(*a) < rank_of(*b);
    });
    print_lists(sorted, wide);
  }

  std::optional<std::string> prefix_;
  std::string state_;
};

}  // namespace

CommandPtr make_lists() {
  return std::make_unique<Lists>();
}

}  // namespace w8y::ctl
