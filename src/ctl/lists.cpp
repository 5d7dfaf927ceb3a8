// Lists all lists of the fleet or of one host, or shows one in detail.
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
#include "ctl/fleet_access.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "view/fleet_lists.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

namespace w8y::ctl {

namespace {

using view::JsonFields;

using view::ListInFleet;

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

std::string number_here(const ListInFleet& list, std::uint64_t number) {
  return list.here ? std::to_string(number) : "";
}

/// Cycles are printed if a list has a limit, or with --wide. Numbers of this host are printed only
/// with --wide, so that all hosts print the same.
void print_lists(const std::vector<const ListInFleet*>& lists, bool wide) {
  const bool cycles = wide || std::any_of(lists.begin(), lists.end(), [](const ListInFleet* one) {
                        return one->list.overdue_after > Duration{0};
                      });
  std::vector<Heading> columns = {{"LIST", may_be_cut}, "STATE", "HOSTS", "RUNNING", "QUARANTINED"};
  if (cycles) columns.insert(columns.end(), {"CYCLE", "LONGEST WAIT", "SLOTS NEEDED"});
  if (wide) columns.insert(columns.end(), {"SUCCEEDED HERE", "FAILED HERE"});
  columns.push_back({"CAPABILITIES", may_be_cut});
  columns.push_back({"REASON", may_be_cut});
  Table table(columns);
  for (const ListInFleet* one : lists) {
    const ListStatus& list = one->list;
    const ListTotals& totals = one->totals;
    std::vector<Cell> row = {escape_text(list.prefix), shaded(state_name(totals.state)),
                             std::to_string(totals.serving) + "/" + std::to_string(totals.hosts),
                             std::to_string(totals.running) + "/" + std::to_string(totals.slots),
                             quarantined_text(list)};
    if (cycles) {
      row.push_back(visit_cell(list, &ListStats::cycle));
      row.push_back(visit_cell(list, &ListStats::longest_wait));
      row.push_back(needs_text(list));
    }
    if (wide) {
      row.push_back(number_here(*one, list.counters.succeeded));
      row.push_back(number_here(*one, view::failures(list.counters)));
    }
    row.push_back(capabilities_text(totals.caps));
    row.push_back(outcome_text(totals.why));
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

/// Returns "12: 3 running, 5 free, 4 delayed"; empty: not known.
std::string items_text(const ListStatus& list) {
  if (!list.stats) return "";
  std::string states;
  std::uint64_t length = 0;
  bool has_length = false;
  for (const auto& [state, count] : list.stats->items) {
    if (state == "length") {
      length = count;
      has_length = true;
    } else if (count > 0) {
      states += (states.empty() ? "" : ", ") + std::to_string(count) + " " + escape(state);
    }
  }
  const std::string about = list.stats->estimated && !states.empty() ? "about " : "";
  if (!has_length) return states.empty() ? "none" : about + states;
  return std::to_string(length) + (states.empty() ? "" : ": " + about + states);
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

/// Adds the part of this host.
void add_here(KeyValueTable& facts, const ListStatus& list) {
  const std::string why = outcome_text(list.why);
  const std::string state = state_name(list.state);
  facts.add("here", {state + (why.empty() ? "" : ": " + why), shaded(state).colour});
  if (!list.last_error.empty())
    facts.add("last error here", time_text(list.last_error_at) + ": " + escape(list.last_error));
  std::string program = escape(list.program);
  if (!list.executor_version.empty()) program += ", version " + escape(list.executor_version);
  facts.add("program here", program);
  facts.add("running here",
            std::to_string(list.running) + " of " + std::to_string(list.concurrency));
  facts.add("since start here", counted_text(list.counters));
}

void print_list(const ListInFleet& one, bool wide) {
  const ListStatus& list = one.list;
  const ListTotals& totals = one.totals;
  KeyValueTable facts;
  const std::string state = state_name(totals.state);
  const std::string why = outcome_text(totals.why);
  facts.add("list", escape_text(list.prefix));
  facts.add("state", {state + (why.empty() ? "" : ": " + why), shaded(state).colour});
  if (const auto quarantined = list.quarantined.value_or(0); quarantined > 0)
    facts.add("quarantined",
              {std::to_string(quarantined) + (quarantined == 1 ? " item" : " items"), Colour::bad});
  if (const std::string items = items_text(list); !items.empty()) facts.add("items", items);
  std::string running = std::to_string(totals.running) + " of " + std::to_string(totals.slots);
  if (list.fleet_concurrency > 0)
    running += ", fleet_concurrency " + std::to_string(list.fleet_concurrency);
  facts.add("running", running);
  facts.add("hosts", std::to_string(totals.serving) + " of " + std::to_string(totals.hosts) +
                         (totals.hosts == 1 ? " serves it" : " serve it"));
  if (wide || list.overdue_after > Duration{0}) add_visits(facts, list);
  if (const std::string caps = capabilities_text(totals.caps); !caps.empty())
    facts.add("capabilities", caps);
  if (one.here) add_here(facts, list);
  facts.print(wide);
  print_runs(list.runs, wide);
}

/// Prints the lists of one host, as it has reported them.
void print_lists_of(const FleetHost& host, WallTime now, bool wide) {
  if (host.unresponsive)
    print_line("host " + escape_text(host.heartbeat.host) + " has been unresponsive for " +
               rough_duration(std::max(WallTime{0}, now - host.last_heartbeat)) +
               (host.expired ? "; its list reports have expired" : "; its last list reports:"));
  if (host.expired) return;
  if (!host.lists_error.empty()) print_line(escape(host.lists_error));
  if (host.lists.empty()) return print_line("no lists");
  Table table({{"LIST", may_be_cut},
               "STATE",
               "RUNNING",
               {"CAPABILITIES", may_be_cut},
               {"REASON", may_be_cut}});
  for (const ListStatus& list : host.lists)
    table.add({escape_text(list.prefix), shaded(state_name(list.state)), running_of_limits(list),
               capabilities_text(list.caps), outcome_text(list.why)});
  table.print(wide);
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
    words.option("--host", "HOST", "the name of a host",
                 "Only lists of this host, as it reports them", host_);
  }

  int run(const Options& options, Context& context) override {
    if (!host_.empty()) return show_host(options, context);
    const bool one = prefix_ && state_.empty();
    if (one) {
      if (const auto list = exactly(context, *prefix_)) return show_one(options, *list);
    }
    const JsonFields answer = context.host().request(api::endpoints::lists.target());
    std::vector<ListInFleet> lists;
    core::JsonArray chosen;
    for (const JsonFields& each : answer.objects("lists")) {
      auto list = view::read_list_in_fleet(each, view::api);
      if (!list || !is_wanted(list->list.prefix, list->totals.state)) continue;
      if (options.json)
        chosen.add(view::to_json(list->list.prefix, list->totals,
                                 list->here ? &list->list : nullptr, view::api));
      lists.push_back(std::move(*list));
    }
    if (prefix_ && lists.empty() && state_.empty())
      throw Failure(refused, "the fleet has no list " + escape_text(*prefix_));
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
                    "the fleet has no list " + escape_text(prefix) + near_hint(*known, prefix));
    }
  }
  static std::string near_hint(const verbs::KnownLists& known, const std::string& prefix) {
    std::vector<std::string> names;
    known.each([&](const std::string& name, const KindTraits&) { names.push_back(name); });
    return core::near_hint(prefix, {names.begin(), names.end()});
  }
  static int show_one(const Options& options, const JsonFields& list) {
    if (options.json) {
      print_json(list);
    } else {
      print_list(view::read_list_in_fleet(list, view::detail).value_or(ListInFleet{}),
                 options.wide);
    }
    return done;
  }
  int show_host(const Options& options, Context& context) const {
    FleetView fleet = FleetAccess(options, context).read_host(host_);
    FleetHost& host = fleet.hosts.front();
    std::erase_if(host.lists,
                  [this](const ListStatus& list) { return !is_wanted(list.prefix, list.state); });
    if (prefix_ && state_.empty() && host.lists.empty() && host.lists_error.empty() &&
        !host.expired)
      throw Failure(refused,
                    "host " + escape_text(host_) + " has no list " + escape_text(*prefix_));
    if (options.json) {
      print_json(view::to_json(std::move(host), true));
    } else {
      print_lists_of(host, fleet.now, options.wide);
    }
    return done;
  }
  [[nodiscard]] bool is_wanted(const std::string& list, ListState state) const {
    if (!state_.empty() && state_name(state) != state_) return false;
    return !prefix_ || *prefix_ == list || core::fits(*prefix_, list);
  }
  void print(const JsonFields& answer, const std::vector<ListInFleet>& lists, bool wide) const {
    KeyValueTable facts;
    if (!prefix_ && state_.empty()) add_problems(facts, read_problems(answer));
    if (const auto fleet = answer.object("fleet")) add_omitted(facts, read_fleet_summary(*fleet));
    facts.print(wide);
    if (!facts.empty()) std::cout << '\n';
    if (!state_.empty() && lists.empty()) {
      std::cout << "no list is " << state_ << '\n';
      return;
    }
    std::vector<const ListInFleet*> sorted;
    for (const ListInFleet& list : lists) sorted.push_back(&list);
    std::stable_sort(sorted.begin(), sorted.end(), [](const ListInFleet* a, const ListInFleet* b) {
      return problem_rank(a->totals, a->list) < problem_rank(b->totals, b->list);
    });
    print_lists(sorted, wide);
  }

  std::optional<std::string> prefix_;
  std::string state_;
  std::string host_;
};

}  // namespace

const CommandMaker make_lists = new_command<Lists>;

}  // namespace w8y::ctl
