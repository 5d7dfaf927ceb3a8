// Times, names and numbers as text of `w8yctl`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/json_object.hpp"
#include "core/status.hpp"
#include "ctl/options.hpp"
#include "ctl/table.hpp"
#include "operator/stored.hpp"
#include "view/fleet_lists.hpp"
#include "view/json_fields.hpp"
#include "view/problems.hpp"
#include "view/run_record.hpp"

namespace w8y::ctl {

using verbs::item_text;
using verbs::stored_number;
using verbs::time_of_run;

WallTime wall_now();
/// Formats a time in the operator's zone, "2026-01-31 12:34:56 +0100", or "… UTC"; empty for none.
std::string time_text(WallTime time);
/// Formats the approximate time from `time` to now; empty for none.
std::string since(WallTime time);

/// Returns the duration of a run; empty if its start is not known.
std::string duration_text(const view::RunRecord& run);
/// Formats a size: "12.5 MiB", "3 KiB".
std::string memory_text(std::int64_t bytes);
/// Formats a number: "3", "2.5".
std::string number_text(double number);
/// Returns a state or outcome in its colour.
Cell shaded(const std::string& name);

/// Returns text that w8yd has escaped already.
std::string outcome_text(const std::string& text);
/// Formats progress: "3 of 10"; empty: there is none.
std::string progress_text(const std::optional<Progress>& progress);
/// Joins capabilities: "resize crop".
std::string capabilities_text(const std::vector<std::string>& caps);

/// Returns the runs and limits of a list: "2/4", or "2/4/10" if it has `fleet_concurrency`.
std::string running_of_limits(const ListStatus& list);
/// Returns the rank of a list in an order that starts with problems: 0 to no_problem. `totals`: of
/// the fleet.
constexpr int no_problem = 3;
int problem_rank(const ListTotals& totals, const ListStatus& list);
/// Returns the total and the number per state: "3 jobs: 1 queued, 2 running". `noun`: the singular,
/// such as "job".
std::string counted_text(const std::map<std::string, std::size_t>& states, const std::string& noun);

/// Adds the problems, a line per cause, as the first entry.
void add_problems(KeyValueTable& facts, const std::vector<ShownProblem>& problems);
/// Adds why the sums of the fleet are not complete, if they are not.
void add_omitted(KeyValueTable& facts, const FleetSummary& fleet);
/// Returns whether an operator has made the problem, by pause, quiet or drain.
bool is_by_operator(const ShownProblem& problem);

/// Returns a record or a field of a record for standard output: escaped on a terminal, unchanged
/// into a pipe and with --raw.
std::string record_text(const Options& options, std::string_view bytes);

/// Prints a line on standard output. Its parts are escaped already; a control character that is
/// still in a part is escaped here.
void print_line(std::string_view line);

/// Prints one JSON document on standard output.
void print_json(const view::JsonFields& json);
/// Prints a JSON object in ASCII, as src/view writes it. It is not parsed, since a result may be
/// large.
void print_json(const std::string& json);
/// Prints {NAME: […]}.
void print_json(const char* name, core::JsonArray& array);
/// Prints one JSON object for a list; {"lists": […]} if a pattern was given.
void print_each(const std::vector<std::string>& lists, bool one);

}  // namespace w8y::ctl
