// Times and names as `w8yctl` shows them to people.
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
#include "view/json_fields.hpp"
#include "view/run_record.hpp"

namespace w8y::ctl {

using verbs::item_text;
using verbs::stored_number;
using verbs::time_of_run;

WallTime wall_now();
/// "2026-01-31 12:34:56 +0100", in the operator's zone, or "… UTC"; empty for none.
std::string time_text(WallTime time);
/// Roughly, from `time` to now; empty for none.
std::string since(WallTime time);

/// How long it took.
std::string took_text(const view::RunRecord& run);
/// "12.5 MiB", "3 KiB"
std::string memory_text(std::int64_t bytes);
/// "3", "2.5"
std::string number_text(double number);
/// The colour of a state or an outcome, by its name.
Cell shaded(const std::string& name);

/// Text that w8yd has escaped already.
std::string said(const std::string& text);
/// "3 of 10"; empty: there is none.
std::string progress_text(const std::optional<Progress>& progress);
/// "resize crop"
std::string capabilities_text(const std::vector<std::string>& caps);

/// Runs and limits of a list: "2/4", or "2/4/10" if it has `fleet_concurrency`.
std::string running_of_limits(const ListStatus& list);
/// Total and number per state: "3 jobs: 1 queued, 2 running". `noun`: the singular, such as "job".
std::string counted_text(const std::map<std::string, std::size_t>& states, const std::string& noun);

/// What is wrong, a line for each cause: first of all.
void add_problems(KeyValueTable& facts, const view::JsonFields& answer);

/// One record, or a field of one, for standard output: as it is into a pipe and with --raw, escaped
/// on a terminal.
std::string record_text(const Options& options, std::string_view bytes);

/// A line on standard output. Its parts are escaped already; a control character that is left in
/// one of them is escaped here.
void print_line(std::string_view line);

/// One JSON document on standard output.
void print_json(const view::JsonFields& json);
/// `json`: an object in ASCII, as src/view writes it. Not parsed: a result may be large.
void print_json(const std::string& json);
/// {NAME: […]}
void print_json(const char* name, core::JsonArray& array);
/// One JSON object for a list; {"lists": […]} where a pattern was given.
void print_each(const std::vector<std::string>& lists, bool one);

}  // namespace w8y::ctl
